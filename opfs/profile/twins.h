/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_PROFILE_TWINS_H
#define OPFS_PROFILE_TWINS_H

#include "opfs/profile/profile.h"

/* Which function a row is in any build of its image: several may have one name. */
struct profile_twin {
	const char *stem; /* mangled name; not terminated */
	uint32_t len;     /* of it, without what differs from build to build */
	uint32_t rank;    /* which of those of the name, in order of their offsets */
	uint32_t nr;      /* how many the symbol table has */
	bool inlined;     /* into others: never the function that the table has */
};

/**
 * profile_twins - the functions that the rows of a profile are
 * @out: one for every row, on the heap; zeros for rows that are no symbol.  Stems point
 *	into the symbol tables.
 * Returns 0 or -ENOMEM.
 */
int profile_twins(const struct profile *p, struct profile_twin **out);
/* Orders by name, and whether it is inlined, alone. */
int profile_twin_compare(const struct profile_twin *a, const struct profile_twin *b);

#endif
