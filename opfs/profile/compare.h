/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_PROFILE_COMPARE_H
#define OPFS_PROFILE_COMPARE_H

#include "opfs/profile/profile.h"

/**
 * profile_compare - compares two profiles (tag diff:)
 * @now, @was: loaded alike; referenced by the result; @was is the older side
 * The result has the rows, pairs and images of both sides; a row on both sides is one
 * row, paired by image (opfs/profile/pairing.h), application and mangled name, without
 * what compilers append to make it unlike in every build.  Of several functions of one
 * name in an image (static ones) the first is paired with the first, and so on: of all
 * that the symbol table has if both sides have as many, else of those with samples.
 * An image whose functions are known on one side only is one row.  A side without any
 * sample has the columns of the other.
 * Totals are those of @now.  The result has neither hits nor arcs.
 * Returns 0; -EINVAL: the columns are not the same; -ENOMEM.
 */
int profile_compare(struct profile *now, struct profile *was, struct profile **out,
		    struct err *err);

#endif
