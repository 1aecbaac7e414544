/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_CACHE_H
#define OPFS_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "opfs/viewer.h"

/*
 * Things that were made before, by key, a bounded number of bytes of them: the least
 * recently used go first.  Besides, the last thing made that is larger than the bound is
 * kept.  Two threads that want the same thing at once make it once.  Thread safe;
 * nothing of it is locked while something is made.
 */
struct cache;

/* A kind of thing kept by reference count. */
struct cache_kind {
	void *(*get)(void *obj); /* one reference more */
	void (*put)(void *obj);
	/* When it is to be made anew, see opfs/until.h; NULL: never. */
	int64_t (*until)(void *obj);
};

struct cache *cache_new(size_t max_bytes);
/* Nobody may be using it; things still referenced elsewhere live on. */
void cache_free(struct cache *c);

/* How a thing is made; 0 and one reference in *obj and its cost in *bytes, or -errno. */
typedef int (*cache_make)(void *ctx, const struct viewer *v, void **obj, size_t *bytes,
			  struct err *err);

/**
 * cache_get - a thing from the cache, or made now
 * @key: names it together with @kind; copied
 * Waits if another thread makes it just now; if that one gives up (-EINTR) this one
 * makes it.  Returns 0 and a reference in *out, -EINTR if @v has gone, or what @make
 * gave.
 */
int cache_get(struct cache *c, const struct cache_kind *kind, const void *key, size_t len,
	      cache_make make, void *ctx, const struct viewer *v, void **out,
	      struct err *err);

/* A reference if it is there, else NULL; never waits for anything to be made. */
void *cache_peek(struct cache *c, const struct cache_kind *kind, const void *key,
		 size_t len);

/* Forgets @obj if it is what the key stands for; the caller's reference stays his. */
void cache_drop(struct cache *c, const struct cache_kind *kind, const void *key,
		size_t len, const void *obj);

#endif
