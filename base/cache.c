/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/cache.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/map.h"
#include "base/thread.h"
#include "base/until.h"

enum { ENTRY_BYTES = 256 };

enum state {
	NEW,    /* not in the table yet */
	MAKING, /* by the thread that added it */
	READY,
	FAILED, /* not in the table any more */
};

struct entry {
	TAILQ_ENTRY(entry) link; /* READY: shelf->entries; without references: the dead */
	unsigned refs; /* the table's, and those of the threads that make or await it */
	enum state state;
	bool listed; /* in shelf->entries, and counted */
	const struct cache_kind *kind;
	struct shelf *shelf; /* NULL: NEW */
	uint64_t used;       /* the larger the later */
	void *obj;
	size_t bytes;
	int rc; /* FAILED: why */
	struct err err;
	struct entry *was; /* MAKING: what it replaces, with the table's reference */
	size_t key_len;
	char key[]; /* the kind's address is part of it */
};
TAILQ_HEAD(entries, entry);

/* What is READY of a kind. */
struct shelf {
	SLIST_ENTRY(shelf) link;
	const struct cache_kind *kind;
	struct entries entries; /* the most recently used first */
	size_t bytes;
};

struct cache {
	pthread_mutex_t lock; /* over all below and what is mutable in entries */
	pthread_cond_t changed;
	struct map table; /* key -> struct entry * */
	SLIST_HEAD(, shelf) shelves;
	struct entry *giant; /* the last one larger than the bound; not counted */
	uint64_t uses;
	size_t max_bytes;
	struct cache_stats stats;
};

static struct entry *entry_new(const struct cache_kind *kind, const void *key, size_t len)
{
	struct entry *e = calloc(1, sizeof(*e) + sizeof(kind) + len);

	if (!e)
		return NULL;
	e->refs = 1;
	e->kind = kind;
	e->key_len = sizeof(kind) + len;
	memcpy(e->key, &kind, sizeof(kind));
	memcpy(e->key + sizeof(kind), key, len);
	return e;
}

/* Lock held.  What nobody references any more goes to @dead. */
static void entry_put(struct entry *e, struct entries *dead)
{
	if (e && !--e->refs)
		TAILQ_INSERT_TAIL(dead, e, link);
}

/* Lock not held: objects may take long to free. */
static void free_entries(struct entries *dead)
{
	struct entry *e;

	while ((e = TAILQ_FIRST(dead))) {
		TAILQ_REMOVE(dead, e, link);
		if (e->obj)
			e->kind->put(e->obj);
		free(e);
	}
}

struct cache *cache_new(size_t max_bytes)
{
	struct cache *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->max_bytes = max_bytes;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->changed, NULL);
	return c;
}

void cache_free(struct cache *c)
{
	struct shelf *s;

	if (!c)
		return;
	while ((s = SLIST_FIRST(&c->shelves))) {
		SLIST_REMOVE_HEAD(&c->shelves, link);
		free_entries(&s->entries);
		free(s);
	}
	map_fini(&c->table);
	pthread_cond_destroy(&c->changed);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

/* ---- the table and the list; the lock is held */

static struct entry *lookup(const struct cache *c, const struct entry *like)
{
	uint64_t found;

	if (!map_get(&c->table, like->key, like->key_len, &found))
		return NULL;
	return (struct entry *)(uintptr_t)found;
}

/* NULL: out of memory. */
static struct shelf *shelf_of(struct cache *c, const struct cache_kind *kind)
{
	struct shelf *s;

	SLIST_FOREACH(s, &c->shelves, link)
		if (s->kind == kind)
			return s;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->kind = kind;
	TAILQ_INIT(&s->entries);
	SLIST_INSERT_HEAD(&c->shelves, s, link);
	return s;
}

static int add(struct cache *c, struct entry *e)
{
	e->shelf = shelf_of(c, e->kind);
	if (!e->shelf)
		return -ENOMEM;
	return map_set(&c->table, e->key, e->key_len, (uintptr_t)e);
}

static void touch(struct cache *c, struct entry *e)
{
	if (!e->listed)
		return;
	e->used = ++c->uses;
	TAILQ_REMOVE(&e->shelf->entries, e, link);
	TAILQ_INSERT_HEAD(&e->shelf->entries, e, link);
}

static void count(struct cache *c, struct entry *e)
{
	c->stats.bytes += e->bytes;
	e->shelf->bytes += e->bytes;
}

/* Of objects that are larger than the bound one stays: who made it wants it again for the
 * next file, and would make it each time otherwise. */
static void list(struct cache *c, struct entry *e)
{
	struct entry *old = c->giant;

	e->state = READY;
	e->listed = true;
	e->used = ++c->uses;
	TAILQ_INSERT_HEAD(&e->shelf->entries, e, link);
	c->stats.entries++;
	if (e->bytes <= c->max_bytes) {
		count(c, e);
		return;
	}
	c->giant = e;
	if (!old)
		return;
	count(c, old);
	old->used = 0;
	TAILQ_REMOVE(&old->shelf->entries, old, link);
	TAILQ_INSERT_TAIL(&old->shelf->entries, old, link);
}

static void unlist(struct cache *c, struct entry *e)
{
	e->listed = false;
	TAILQ_REMOVE(&e->shelf->entries, e, link);
	c->stats.entries--;
	if (e == c->giant) {
		c->giant = NULL;
		return;
	}
	c->stats.bytes -= e->bytes;
	e->shelf->bytes -= e->bytes;
}

static void take_out(struct cache *c, struct entry *e, struct entries *dead)
{
	unlist(c, e);
	map_del(&c->table, e->key, e->key_len);
	entry_put(e, dead);
}

/* What is being made, or ready and not expired. */
static struct entry *find(struct cache *c, const struct entry *like, struct entries *dead)
{
	struct entry *e = lookup(c, like);

	if (!e || e->state != READY || !e->kind->until ||
	    !until_over(e->kind->until(e->obj)))
		return e;
	take_out(c, e, dead);
	return NULL;
}

/* The least recently used one of a kind that takes more than its reserve, or NULL. */
static struct entry *find_victim(const struct cache *c)
{
	struct entry *victim = NULL, *e;
	struct shelf *s;

	SLIST_FOREACH(s, &c->shelves, link) {
		if (s->bytes <= c->max_bytes / 100 * s->kind->reserve)
			continue;
		e = TAILQ_LAST(&s->entries, entries);
		if (e == c->giant)
			e = TAILQ_PREV(e, entries, link);
		if (e && (!victim || e->used < victim->used))
			victim = e;
	}
	return victim;
}

/* @e is in the table and its object is there. */
static void add_ready(struct cache *c, struct entry *e, void *obj, size_t bytes,
		      struct entries *dead)
{
	e->obj = obj;
	e->bytes = bytes + 2 * e->key_len + ENTRY_BYTES; /* the table copies the key */
	list(c, e);
	while (c->stats.bytes > c->max_bytes && (e = find_victim(c))) {
		take_out(c, e, dead);
		c->stats.evicted++;
	}
}

/* ---- what is there */

void *cache_peek(struct cache *c, const struct cache_kind *kind, const void *key,
		 size_t len)
{
	struct entries dead = TAILQ_HEAD_INITIALIZER(dead);
	struct entry *like = entry_new(kind, key, len), *e;
	void *obj = NULL;

	if (!like)
		return NULL;
	pthread_mutex_lock(&c->lock);
	e = find(c, like, &dead);
	if (e && e->state == READY) {
		obj = kind->get(e->obj);
		touch(c, e);
		c->stats.hits++;
	}
	entry_put(like, &dead);
	pthread_mutex_unlock(&c->lock);
	free_entries(&dead);
	return obj;
}

int cache_set(struct cache *c, const struct cache_kind *kind, const void *key, size_t len,
	      void *obj, size_t bytes)
{
	struct entries dead = TAILQ_HEAD_INITIALIZER(dead);
	struct entry *mine = entry_new(kind, key, len), *was;
	int rc = 0;

	if (!mine) {
		kind->put(obj);
		return -ENOMEM;
	}
	mine->obj = obj;
	pthread_mutex_lock(&c->lock);
	was = lookup(c, mine);
	if (was && was->state == READY)
		take_out(c, was, &dead);
	else if (was)
		rc = -EBUSY;
	rc = rc ? rc : add(c, mine);
	if (!rc)
		add_ready(c, mine, obj, bytes, &dead);
	else
		entry_put(mine, &dead);
	pthread_mutex_unlock(&c->lock);
	free_entries(&dead);
	return rc;
}

void cache_drop(struct cache *c, const struct cache_kind *kind, const void *key,
		size_t len)
{
	struct entries dead = TAILQ_HEAD_INITIALIZER(dead);
	struct entry *like = entry_new(kind, key, len), *e;

	if (!like)
		return;
	pthread_mutex_lock(&c->lock);
	e = lookup(c, like);
	if (e && e->state == READY)
		take_out(c, e, &dead);
	entry_put(like, &dead);
	pthread_mutex_unlock(&c->lock);
	free_entries(&dead);
}

void cache_drop_if(struct cache *c, const struct cache_kind *kind,
		   bool (*is)(const void *obj, void *ctx), void *ctx)
{
	struct entries dead = TAILQ_HEAD_INITIALIZER(dead);
	struct entry *e, *next;
	struct shelf *s;

	pthread_mutex_lock(&c->lock);
	s = shelf_of(c, kind);
	for (e = s ? TAILQ_FIRST(&s->entries) : NULL; e; e = next) {
		next = TAILQ_NEXT(e, link);
		if (is(e->obj, ctx))
			take_out(c, e, &dead);
	}
	pthread_mutex_unlock(&c->lock);
	free_entries(&dead);
}

void cache_stats(struct cache *c, struct cache_stats *out)
{
	pthread_mutex_lock(&c->lock);
	*out = c->stats;
	pthread_mutex_unlock(&c->lock);
}

/* ---- making */

/* Until @e is ready or failed.  -EAGAIN: who made it was interrupted.  Lock held. */
static int wait_for(struct cache *c, const struct entry *e, const struct viewer *v,
		    struct err *err)
{
	while (e->state == MAKING && !viewer_gone(v))
		thread_wait(&c->changed, &c->lock);
	if (e->state == MAKING)
		return err_set(err, -EINTR, "interrupted");
	if (e->state == FAILED && err)
		*err = e->err;
	return e->rc == -EINTR ? -EAGAIN : e->rc;
}

/* Lock held, but not while the kind looks. */
static bool holds(struct cache *c, const struct entry *e, void *ctx)
{
	bool yes;

	if (!e->kind->holds)
		return true;
	pthread_mutex_unlock(&c->lock);
	yes = e->kind->holds(e->obj, ctx);
	pthread_mutex_lock(&c->lock);
	return yes;
}

/* @e does not hold: @mine is made in its place.  -EAGAIN: another thread was faster, or
 * it was evicted.  Lock held. */
static int replace(struct cache *c, struct entry *e, struct entry *mine)
{
	if (!e->listed)
		return -EAGAIN;
	unlist(c, e);
	(void)!add(c, mine); /* the key and the kind are there: nothing is allocated */
	mine->was = e;
	mine->state = MAKING;
	return 0;
}

/* The object, or @mine becomes MAKING, or -EAGAIN: once more.  Lock held. */
static int try_get(struct cache *c, struct entry *mine, void *ctx, const struct viewer *v,
		   void **out, struct err *err, struct entries *dead)
{
	struct entry *e = find(c, mine, dead);
	int rc = 0;

	if (!e) {
		if (add(c, mine))
			return err_set(err, -ENOMEM, "out of memory");
		mine->state = MAKING;
		return 0;
	}
	e->refs++;
	if (e->state == MAKING)
		rc = wait_for(c, e, v, err);
	if (!rc && !holds(c, e, ctx)) {
		rc = replace(c, e, mine);
	} else if (!rc) {
		*out = e->kind->get(e->obj);
		touch(c, e);
		c->stats.hits++;
	}
	entry_put(e, dead);
	return rc;
}

/* Lock held. */
static void give_up(struct cache *c, struct entry *e, int rc, struct entries *dead)
{
	e->state = FAILED;
	e->rc = rc;
	if (rc == -EINTR && e->was) {
		(void)!add(c, e->was);
		list(c, e->was);
	} else {
		map_del(&c->table, e->key, e->key_len);
		entry_put(e->was, dead);
	}
	entry_put(e, dead);
}

/* @e is in the table as MAKING; the lock is not held. */
static int make_entry(struct cache *c, struct entry *e, cache_make make, void *ctx,
		      const struct viewer *v, void **out, struct err *err)
{
	struct entries dead = TAILQ_HEAD_INITIALIZER(dead);
	struct err why = { 0 };
	size_t bytes = 0;
	void *obj = NULL;
	int rc = make(ctx, v, &obj, &bytes, &why);

	pthread_mutex_lock(&c->lock);
	c->stats.misses++;
	if (rc) {
		e->err = why;
		give_up(c, e, rc, &dead);
	} else {
		*out = e->kind->get(obj);
		entry_put(e->was, &dead);
		add_ready(c, e, obj, bytes, &dead);
	}
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
	free_entries(&dead);
	if (rc && err)
		*err = why;
	return rc;
}

int cache_get(struct cache *c, const struct cache_kind *kind, const void *key, size_t len,
	      cache_make make, void *ctx, const struct viewer *v, void **out,
	      struct err *err)
{
	struct entries dead = TAILQ_HEAD_INITIALIZER(dead);
	struct entry *mine = entry_new(kind, key, len);
	bool make_it;
	int rc;

	if (!mine)
		return err_set(err, -ENOMEM, "out of memory");
	pthread_mutex_lock(&c->lock);
	do
		rc = try_get(c, mine, ctx, v, out, err, &dead);
	while (rc == -EAGAIN && !viewer_gone(v));
	make_it = mine->state == MAKING;
	if (!make_it)
		entry_put(mine, &dead);
	pthread_mutex_unlock(&c->lock);
	free_entries(&dead);
	if (make_it)
		return make_entry(c, mine, make, ctx, v, out, err);
	return rc == -EAGAIN ? err_set(err, -EINTR, "interrupted") : rc;
}
