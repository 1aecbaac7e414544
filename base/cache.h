/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_CACHE_H
#define BASE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/viewer.h"

/*
 * Objects that were made before, by key, up to a number of bytes: the least recently used
 * are evicted first, among the kinds that take more than their reserve.  In addition the
 * last object that is larger than the bound is kept.  Threads that want the same object
 * at the same time make it once.  Thread safe.
 *
 * The cache's lock is a leaf: of a kind's functions only get() and until() are called
 * while it is held, and the condition of cache_drop_if().
 */
struct cache;

/* A kind of object, kept by reference count. */
struct cache_kind {
	void *(*get)(void *obj); /* one reference more */
	void (*put)(void *obj);
	/* When it expires, see base/until.h; NULL: never. */
	int64_t (*until)(void *obj);
	/* Does an object that was found still hold for this caller?  @ctx is that of
	 * cache_get().  May look at files.  NULL: always. */
	bool (*holds)(void *obj, void *ctx);
	/* Percent of the bound that objects of other kinds cannot take: for what is small
	 * beside them, or takes longer to make.  All together at most 100. */
	unsigned reserve;
};

struct cache *cache_new(size_t max_bytes);
/* No call may be in progress; objects that are referenced elsewhere live on. */
void cache_free(struct cache *c);

/* Makes an object: 0, one reference in *obj and its cost in *bytes, or -errno. */
typedef int (*cache_make)(void *ctx, const struct viewer *v, void **obj, size_t *bytes,
			  struct err *err);

/**
 * cache_get - an object from the cache, or made now
 * @key: identifies it together with @kind; copied
 * Waits while another thread makes it; if that one is interrupted, this one makes it.
 * An object that no longer holds is replaced, but comes back if making its successor is
 * interrupted, so that the next caller has it to compare with.
 * Returns 0 and a reference in *out, -EINTR if @v has gone, or what @make returned.
 */
int cache_get(struct cache *c, const struct cache_kind *kind, const void *key, size_t len,
	      cache_make make, void *ctx, const struct viewer *v, void **out,
	      struct err *err);

/* A reference if the object is there, else NULL.  Never waits for one to be made, and
 * does not ask whether it holds. */
void *cache_peek(struct cache *c, const struct cache_kind *kind, const void *key,
		 size_t len);

/* Puts an object in, in place of what the key stood for.  Takes the reference over, also
 * on failure: -ENOMEM, -EBUSY (another thread makes it just now). */
int cache_set(struct cache *c, const struct cache_kind *kind, const void *key, size_t len,
	      void *obj, size_t bytes);

/* Removes the object of the key; not one that is being made. */
void cache_drop(struct cache *c, const struct cache_kind *kind, const void *key,
		size_t len);

/* Removes the objects of a kind that @is says yes to, which is called while the lock is
 * held; not those that are being made or replaced.  Takes time by how many there are of
 * the kind. */
void cache_drop_if(struct cache *c, const struct cache_kind *kind,
		   bool (*is)(const void *obj, void *ctx), void *ctx);

struct cache_stats {
	uint64_t hits, misses, evicted;
	size_t entries, bytes; /* kept now */
};
void cache_stats(struct cache *c, struct cache_stats *out);

#endif
