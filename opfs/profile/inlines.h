/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_PROFILE_INLINES_H
#define OPFS_PROFILE_INLINES_H

#include "opfs/profile/profile.h"

/* Behind the name of an inlined function: it may be called elsewhere, too. */
#define PROFILE_INLINED " (inlined)"

/* As many functions may be inlined into each other at one place; of more the innermost
 * count. */
enum { PROFILE_MAX_INLINED = 64 };

struct profile_inline_query {
	unsigned needs; /* what reports need of it: PROFILE_INLINES and more */
	enum sym_demangle_style demangle;
	struct sym_cache *syms; /* outlives the profile; NULL: names stay as they are */
	/* What is known of @from; NULL: @syms is asked.  The profile's in any case. */
	struct lines *lines;
	const struct viewer *v; /* whose rights open binaries; NULL: this process's */
};

/**
 * profile_inline - the same samples, with inlined functions as functions of their own
 * @from: with PROFILE_HITS and what @q->needs; may be a slice or filtered, not a
 *	comparison; a reference is taken
 * A sample is in the innermost function that is inlined where it was taken, which is one
 * of its image; it has a row, and the functions around it are frames below it.  So
 * samples of images, of applications and in all stay as they are; rows have no hits, and
 * stacks are those of the rows only.
 * Returns 0, -EINTR, -ENOMEM; -E2BIG: too many frames.  An image whose inlined functions
 * are not known stays as it is, and out->inlines tells why.
 */
int profile_inline(struct profile *from, const struct profile_inline_query *q,
		   struct profile **out, struct err *err);

#endif
