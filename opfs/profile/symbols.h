/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_PROFILE_SYMBOLS_H
#define OPFS_PROFILE_SYMBOLS_H

#include "opfs/profile/build.h"

/* The row of an application, image and symbol while the profile is being built. */
struct profile_place {
	uint32_t app, image;
	const struct sym *sym; /* NULL: outside every symbol, or there are none */
};

/* Fills b->rows from the sample files; rows of symbols have their raw name. */
int profile_count(struct profile_build *b);
/* Adds a row without samples.  NULL if out of memory. */
struct profile_row *profile_add_row(struct profile_build *b,
				    const struct profile_place *at);

/* Gives the rows of symbols their demangled names. */
int profile_name_rows(struct profile_build *b);
/* The same for rows of functions in stacks, whose names are known.  0 or -ENOMEM. */
int profile_name_from_stacks(struct profile_build *b);

#endif
