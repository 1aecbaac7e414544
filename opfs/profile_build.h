/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_PROFILE_BUILD_H
#define OPFS_PROFILE_BUILD_H

#include "base/err.h"
#include "base/vec.h"
#include "opfs/profile.h"

/* What profile_load() is made of; private to opfs/profile*.c. */

struct profile_pick { /* a selected file; sorted by image, then application */
	const struct catalog_file *file;
	uint32_t class;
};

struct profile_build {
	struct profile *p;
	struct profile_pick *picks;
	size_t nr_picks;
	struct sym_cache *syms;
	const struct viewer *v;
	struct err *err;
	VEC(struct profile_row) rows;
	VEC(struct catalog_bad) bad;
};

/* True if only entries of the PLT have names: what is outside them is the image itself. */
static inline bool profile_stripped(const struct sym_table *t)
{
	return t->state == SYM_NO_SYMBOLS;
}

/* One past the last pick with the image (and application, if @same_app) of pick @i. */
size_t profile_picks_end(const struct profile_build *b, size_t i, bool same_app);

/**
 * profile_load_images - fills p->images: every binary is opened once, several at a time
 * Returns 0, -EINTR or -ENOMEM; an image without symbols has a state and a reason.
 */
int profile_load_images(struct profile_build *b);

/* Fills b->rows from the sample files; rows of symbols have their raw name. */
int profile_count(struct profile_build *b);

/* Gives the rows of symbols their demangled names. */
int profile_name_rows(struct profile_build *b);

/* -ENOMEM with a message. */
int profile_no_memory(struct profile_build *b);
int profile_interrupted(struct profile_build *b);

#endif
