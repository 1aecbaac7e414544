/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_PROFILE_LINES_H
#define OPFS_PROFILE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/viewer.h"
#include "libsym/server/cache.h"
#include "libsym/table/lines.h"
#include "opfs/profile/profile.h"

/*
 * Source lines of the images of a profile: one job an image, several at a time.  An
 * image without lines, or whose helper died, has a reason instead and affects only its
 * own places.  Immutable; borrows from its profile, and must be freed before it.
 */
struct lines;

enum lines_of {
	LINES_OF_SYMBOLS, /* first byte of the symbol of each row */
	LINES_OF_PLACES,  /* all places with samples; needs PROFILE_HITS */
	LINES_OF_HITS,    /* both */
	LINES_OF_CODE,    /* every byte of the symbol of each row */
	LINES_OF_ALL,     /* the same and all places with samples */
};

struct lines_query {
	const struct profile *p; /* with PROFILE_SYMBOLS */
	const struct profile_row *const
		*rows; /* of @p, borrowed for the call; NULL: all */
	size_t nr_rows;
	enum lines_of what;
	const uint8_t
		*frames; /* of p->stacks: 1 of each that is wanted too; NULL: none */
	unsigned flags;  /* as sym_server_lines() has them */
	struct sym_cache *syms; /* NULL: no image has lines */
	const struct viewer *v; /* whose rights open binaries; NULL: this process's */
};

/* Where an offset is in the source.  Strings live as long as the lines. */
struct line_place {
	const char *file; /* as DWARF has it, absolute or not, any bytes; NULL: unknown */
	uint32_t line;    /* 0: belongs to no line of the file */
	/* The inlined function whose code this is, as linkers know it, "" if it has no
	 * name; NULL: the function that the symbol tells. */
	const char *inlined;

	const struct sym_lines *lines; /* private, for lines_caller() */
	uint32_t inline_index;
};

/**
 * lines_load - loads the lines of many images
 * Returns 0 even if no image has lines; -EINTR if the viewer has gone; -ENOMEM.
 */
int lines_load(const struct lines_query *q, struct lines **out, struct err *err);

/**
 * lines_wanted - which code lines_load() would ask for
 * @visit: is given it for each image, by offset and disjoint; it dies with the call
 * Stops when @visit returns non-zero, and returns that.  Otherwise 0 or -ENOMEM.
 */
int lines_wanted(const struct lines_query *q,
		 int (*visit)(void *ctx, uint32_t image, const struct sym_range *ranges,
			      size_t nr),
		 void *ctx, struct err *err);

/* No lines at all; and those of one image, whose reference is taken over. */
struct lines *lines_new(const struct profile *p); /* NULL: out of memory */
void lines_set(struct lines *l, uint32_t image, struct sym_lines *of);
void lines_free(struct lines *l);          /* NULL is fine */
size_t lines_bytes(const struct lines *l); /* what they cost in memory */
static inline void lines_freep(struct lines **l)
{
	lines_free(*l);
}

/**
 * lines_at - the source of one place
 * @image: index into catalog->images
 * @off: as in struct sym; among those that were asked for
 * With inlines the place is in the innermost inlined function.  False: nothing is known.
 */
bool lines_at(const struct lines *l, uint32_t image, uint64_t off,
	      struct line_place *out);

/**
 * lines_caller - one step out of inlined code
 * Makes @at the place where @at->inlined is called, in the function which that is
 * inlined into.  False, and @at unchanged: nothing is inlined there.
 */
bool lines_caller(struct line_place *at);

/* Where a row's symbol begins.  False: "(no location information)". */
bool lines_of_row(const struct lines *l, const struct profile_row *row,
		  struct line_place *out);

/* Why an image has no lines, in one line; NULL if it has lines, or was not asked for. */
const char *lines_reason(const struct lines *l, uint32_t image);

/* The lines of one image, NULL if it has none: for callers that walk whole functions. */
const struct sym_lines *lines_image(const struct lines *l, uint32_t image);

/* The source of one of their rows. */
void lines_place(const struct sym_lines *of, const struct sym_line *row,
		 struct line_place *out);

#endif
