/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/cache.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "opfs/until.h"

enum { POLL_NS = 50000000, ENTRY_BYTES = 256 };

enum state {
	MAKING, /* by the thread that added it; others wait */
	READY,
	FAILED, /* out of the table; the last one who waited frees it */
};

struct entry {
	const struct cache_kind *kind;
	char *key;
	size_t key_len;
	enum state state;
	unsigned waiting;
	void *obj;
	size_t bytes;
	int rc;
	struct err err;
	struct entry *newer, *older; /* READY ones */
};

struct cache {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct map table; /* kind and key -> struct entry * */
	struct entry *newest, *oldest;
	struct entry *giant; /* the last one larger than the bound; not counted */
	size_t bytes, max_bytes;
};

struct cache *cache_new(size_t max_bytes)
{
	struct cache *c = calloc(1, sizeof(*c));
	pthread_condattr_t attr;

	if (!c)
		return NULL;
	c->max_bytes = max_bytes;
	pthread_mutex_init(&c->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&c->changed, &attr);
	pthread_condattr_destroy(&attr);
	return c;
}

static void entry_free(struct entry *e)
{
	if (e->obj)
		e->kind->put(e->obj);
	free(e->key);
	free(e);
}

void cache_free(struct cache *c)
{
	struct entry *next;

	if (!c)
		return;
	for (struct entry *e = c->newest; e; e = next) {
		next = e->older;
		entry_free(e);
	}
	map_fini(&c->table);
	pthread_cond_destroy(&c->changed);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

/* ---- the list of what is ready; the lock is held */

static void unlink_entry(struct cache *c, struct entry *e)
{
	*(e->newer ? &e->newer->older : &c->newest) = e->older;
	*(e->older ? &e->older->newer : &c->oldest) = e->newer;
	e->newer = e->older = NULL;
}

static void link_newest(struct cache *c, struct entry *e)
{
	e->older = c->newest;
	*(c->newest ? &c->newest->newer : &c->oldest) = e;
	c->newest = e;
}

static void link_oldest(struct cache *c, struct entry *e)
{
	e->newer = c->oldest;
	*(c->oldest ? &c->oldest->older : &c->newest) = e;
	c->oldest = e;
}

/* Counts what is new.  Of things that are larger than all that is kept one stays: who
 * made it wants it again for the next file, and would make it each time otherwise. */
static void count(struct cache *c, struct entry *e)
{
	struct entry *old = c->giant;

	if (e->bytes <= c->max_bytes) {
		c->bytes += e->bytes;
		return;
	}
	c->giant = e;
	if (!old)
		return;
	c->bytes += old->bytes;
	unlink_entry(c, old);
	link_oldest(c, old);
}

static void take_out(struct cache *c, struct entry *e)
{
	unlink_entry(c, e);
	map_del(&c->table, e->key, e->key_len);
	if (e == c->giant)
		c->giant = NULL;
	else
		c->bytes -= e->bytes;
}

static struct entry *find(struct cache *c, const struct entry *like)
{
	uint64_t found;

	if (!map_get(&c->table, like->key, like->key_len, &found))
		return NULL;
	return (struct entry *)(uintptr_t)found;
}

static bool is_old(const struct entry *e)
{
	return e->kind->until && until_over(e->kind->until(e->obj));
}

/* What is ready and not too old; the lock is held. */
static struct entry *find_good(struct cache *c, const struct entry *like)
{
	struct entry *e = find(c, like);

	if (!e || e->state != READY || e->waiting || !is_old(e))
		return e;
	take_out(c, e);
	entry_free(e);
	return NULL;
}

/* Takes out what is too much; the caller frees it when the lock is gone.  What somebody
 * still waits for stays a moment longer. */
static struct entry *shrink(struct cache *c)
{
	struct entry *dead = NULL, *newer;

	for (struct entry *e = c->oldest; e && c->bytes > c->max_bytes; e = newer) {
		newer = e->newer;
		if (e->waiting || e == c->giant)
			continue;
		take_out(c, e);
		e->older = dead;
		dead = e;
	}
	return dead;
}

static void free_list(struct entry *dead)
{
	struct entry *next;

	for (; dead; dead = next) {
		next = dead->older;
		entry_free(dead);
	}
}

/* ---- keys: the kind is part of them */

static int key_init(struct entry *e, const struct cache_kind *kind, const void *key,
		    size_t len)
{
	*e = (struct entry){ .kind = kind };
	e->key_len = sizeof(kind) + len;
	e->key = malloc(e->key_len);
	if (!e->key)
		return -ENOMEM;
	memcpy(e->key, &kind, sizeof(kind));
	memcpy(e->key + sizeof(kind), key, len);
	return 0;
}

void *cache_peek(struct cache *c, const struct cache_kind *kind, const void *key,
		 size_t len)
{
	struct entry like, *e;
	void *obj = NULL;

	if (key_init(&like, kind, key, len))
		return NULL;
	pthread_mutex_lock(&c->lock);
	e = find_good(c, &like);
	if (e && e->state == READY) {
		obj = kind->get(e->obj);
		unlink_entry(c, e);
		link_newest(c, e);
	}
	pthread_mutex_unlock(&c->lock);
	free(like.key);
	return obj;
}

void cache_drop(struct cache *c, const struct cache_kind *kind, const void *key,
		size_t len, const void *obj)
{
	struct entry like, *e;

	if (key_init(&like, kind, key, len))
		return;
	pthread_mutex_lock(&c->lock);
	e = find(c, &like);
	if (e && (e->state != READY || e->obj != obj || e->waiting))
		e = NULL;
	if (e)
		take_out(c, e);
	pthread_mutex_unlock(&c->lock);
	if (e)
		entry_free(e);
	free(like.key);
}

/* ---- making */

/* The lock is held.  Returns what became of it; *e is not to be used after FAILED. */
static int wait_for(struct cache *c, struct entry *e, const struct viewer *v, void **out,
		    struct err *err)
{
	struct timespec until;
	int rc = 0;

	e->waiting++;
	while (e->state == MAKING && !viewer_gone(v)) {
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += POLL_NS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&c->changed, &c->lock, &until);
	}
	e->waiting--;
	if (e->state == MAKING) {
		rc = err_set(err, -EINTR, "interrupted");
	} else if (e->state == READY) {
		*out = e->kind->get(e->obj);
	} else {
		rc = e->rc == -EINTR ? -EAGAIN : e->rc;
		if (err)
			*err = e->err;
		if (!e->waiting)
			entry_free(e);
	}
	return rc;
}

/* What could not be made leaves the table. */
static void give_up(struct cache *c, struct entry *e, int rc)
{
	map_del(&c->table, e->key, e->key_len);
	e->state = FAILED;
	e->rc = rc;
	pthread_cond_broadcast(&c->changed);
	if (!e->waiting)
		entry_free(e);
}

/* @e is in the table as MAKING; the lock is not held. */
static int make_entry(struct cache *c, struct entry *e, cache_make make, void *ctx,
		      const struct viewer *v, void **out, struct err *err)
{
	struct entry *dead = NULL;
	struct err why = { 0 };
	size_t bytes = 0;
	void *obj = NULL;
	int rc = make(ctx, v, &obj, &bytes, &why);

	pthread_mutex_lock(&c->lock);
	e->err = why;
	if (rc) {
		give_up(c, e, rc);
	} else {
		e->obj = obj;
		e->bytes = bytes + e->key_len + ENTRY_BYTES;
		e->state = READY;
		*out = e->kind->get(obj);
		count(c, e);
		link_newest(c, e);
		pthread_cond_broadcast(&c->changed);
		dead = shrink(c);
	}
	pthread_mutex_unlock(&c->lock);
	free_list(dead);
	if (rc && err)
		*err = why;
	return rc;
}

/* The lock is held, and still is on return. */
static int try_get(struct cache *c, struct entry *mine, bool *make_it,
		   const struct viewer *v, void **out, struct err *err)
{
	struct entry *e = find_good(c, mine);

	*make_it = false;
	if (e && e->state == READY) {
		*out = e->kind->get(e->obj);
		unlink_entry(c, e);
		link_newest(c, e);
		return 0;
	}
	if (e)
		return wait_for(c, e, v, out, err);
	*make_it = true;
	if (map_set(&c->table, mine->key, mine->key_len, (uintptr_t)mine))
		return err_set(err, -ENOMEM, "out of memory");
	return 0;
}

int cache_get(struct cache *c, const struct cache_kind *kind, const void *key, size_t len,
	      cache_make make, void *ctx, const struct viewer *v, void **out,
	      struct err *err)
{
	struct entry *mine = malloc(sizeof(*mine));
	bool make_it = false;
	int rc = mine ? key_init(mine, kind, key, len) : -ENOMEM;

	if (rc) {
		free(mine);
		return err_set(err, rc, "out of memory");
	}
	pthread_mutex_lock(&c->lock);
	do
		rc = try_get(c, mine, &make_it, v, out, err);
	while (rc == -EAGAIN && !viewer_gone(v));
	pthread_mutex_unlock(&c->lock);
	if (!rc && make_it)
		return make_entry(c, mine, make, ctx, v, out, err);
	free(mine->key);
	free(mine);
	return rc == -EAGAIN ? err_set(err, -EINTR, "interrupted") : rc;
}
