/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_PROFILE_FILTER_H
#define OPFS_PROFILE_FILTER_H

#include "opfs/profile/profile.h"

/**
 * profile_filter - the part of a profile that some of its rows are (tag symbol:)
 * @full: loaded with PROFILE_SYMBOLS; referenced by the result
 * Totals, classes and pairs of the result count the rows kept only; classes keep their
 * places, also empty ones.
 * Returns 0 or -ENOMEM.
 */
int profile_filter(struct profile *full,
		   bool (*keep)(void *ctx, const struct profile_row *row), void *ctx,
		   struct profile **out, struct err *err);

#endif
