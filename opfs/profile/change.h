/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_PROFILE_CHANGE_H
#define OPFS_PROFILE_CHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/percent.h"

/* How much a row or pair of a comparison has changed: see opfs/profile/compare.h. */

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
/* How a change is shown: "+12.5000" (@growth), "+++", "---", "      0" for none. */
void profile_change_format(enum profile_change change, double growth,
			   char out[PERCENT_MAX]);

enum {
	PROFILE_SIGMAS = 3, /* standard errors that a difference must exceed to count */
	PROFILE_MANY = 100, /* samples whose errors are those of a normal curve */
};
/* True if two shares differ by more than chance: a test of two proportions.  Where less
 * than PROFILE_MANY samples were to be expected on one side, the exact probability must
 * be as small, too.  A single sample never tells. */
bool profile_significant(uint64_t samples, uint64_t total, uint64_t was,
			 uint64_t was_total);

#endif
