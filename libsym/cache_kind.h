/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_CACHE_KIND_H
#define LIBSYM_CACHE_KIND_H

#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "libsym/cache.h"

/* What a cache keeps: between libsym/cache.c and libsym/cache_kinds.c. */

struct sym_identity { /* what stat(2) shows of a file; zeros if there is none */
	bool known;
	struct statx st;
};

struct sym_ask { /* what is asked for; all borrowed */
	const struct sym_cache_kind *kind;
	const struct sym_job *job;
	const struct sym_range *ranges; /* parts of the image, or none */
	size_t nr_ranges;
	unsigned flags;
	const char *options; /* may be NULL, which is not the same as "" */
	const atomic_bool *cancel;
};

struct sym_cache_kind {
	const char *name; /* part of keys */
	int (*load)(struct sym_server *s, const struct sym_ask *ask, void **out,
		    struct err *err);
	void *(*get)(void *thing);
	void (*put)(void *thing); /* NULL is fine */
	size_t (*bytes)(const void *thing);
	/* Seconds that it is good for while its file stays the same; 0: for ever. */
	int64_t (*good_for)(const struct sym_job *job, const void *thing);
	/* True if it came from the file that @id was taken of later. */
	bool (*is_of)(const void *thing, const struct sym_identity *id);
};

/* From the cache where possible.  @out: one reference. */
int sym_cache_ask(struct sym_cache *c, const struct sym_ask *ask, void **out,
		  struct err *err);

#endif
