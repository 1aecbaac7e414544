/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_PROFILE_COMPARE_H
#define OPFS_PROFILE_COMPARE_H

#include "opfs/profile/profile.h"

/**
 * profile_compare - compares two profiles (tag diff:)
 * @now, @was: loaded alike; referenced by the result; @was is the older side
 * The result has the rows, pairs and images of both sides; a row on both sides is one
 * row, paired by image, application and name.  Images are paired by path; else if each
 * is the only application; else by a basename that is unique on both sides; anonymous
 * memory by its label.  An image whose functions are known on one side only is one row.
 * Totals are those of @now.  The result has neither hits nor arcs.
 * Returns 0; -EINVAL: the columns are not the same; -ENOMEM.
 */
int profile_compare(struct profile *now, struct profile *was, struct profile **out,
		    struct err *err);

enum profile_change {
	PROFILE_SAME, /* on neither side */
	PROFILE_BOTH,
	PROFILE_NEW,
	PROFILE_GONE,
};
/* The fate of a row or pair of a comparison in one class. */
enum profile_change profile_changed(const uint64_t *samples, const uint64_t *was,
				    bool gone, size_t class);
/* The change of a share in percent of the old share, as opreport's "diff %". */
double profile_growth(uint64_t samples, uint64_t total, uint64_t was, uint64_t was_total);

#define PROFILE_SIGMAS 3 /* standard errors that a difference must exceed to count */
/* True if two shares differ by more than chance: a test of two proportions. */
bool profile_significant(uint64_t samples, uint64_t total, uint64_t was,
			 uint64_t was_total);

#endif
