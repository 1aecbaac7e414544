/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "libsym/cache_kind.h"

enum { STEP_NS = 50000000, ENTRY_BYTES = 512 };

struct entry {
	struct entry *newer, *older; /* by last use */
	char *key;
	size_t key_len;
	bool loading; /* by a thread that will come back */
	unsigned waiting;
	struct sym_identity identity;
	int64_t loaded_s;
	const struct sym_cache_kind *kind;
	void *thing; /* NULL while loading for the first time */
};

struct sym_cache {
	struct sym_server *server;
	size_t max_bytes;
	pthread_mutex_t lock; /* over all below */
	pthread_cond_t loaded;
	struct map map; /* key -> entry */
	struct entry *newest, *oldest;
	struct sym_cache_stats stats;
};

struct sym_cache *sym_cache_new(struct sym_server *server, size_t max_bytes)
{
	struct sym_cache *c = calloc(1, sizeof(*c));
	pthread_condattr_t attr;

	if (!c)
		return NULL;
	c->server = server;
	c->max_bytes = max_bytes;
	pthread_mutex_init(&c->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&c->loaded, &attr);
	pthread_condattr_destroy(&attr);
	return c;
}

static void unlink_entry(struct sym_cache *c, struct entry *e)
{
	*(e->newer ? &e->newer->older : &c->newest) = e->older;
	*(e->older ? &e->older->newer : &c->oldest) = e->newer;
	e->newer = e->older = NULL;
}

static void link_newest(struct sym_cache *c, struct entry *e)
{
	e->older = c->newest;
	*(c->newest ? &c->newest->newer : &c->oldest) = e;
	c->newest = e;
}

static size_t entry_bytes(const struct entry *e)
{
	return ENTRY_BYTES + (e->thing ? e->kind->bytes(e->thing) : 0);
}

static void drop_thing(struct sym_cache *c, struct entry *e)
{
	if (e->thing)
		c->stats.bytes -= e->kind->bytes(e->thing);
	e->kind->put(TAKE(e->thing));
}

static void remove_entry(struct sym_cache *c, struct entry *e)
{
	drop_thing(c, e);
	c->stats.bytes -= entry_bytes(e);
	c->stats.entries--;
	map_del(&c->map, e->key, e->key_len);
	unlink_entry(c, e);
	free(e->key);
	free(e);
}

void sym_cache_free(struct sym_cache *c)
{
	if (!c)
		return;
	while (c->newest)
		remove_entry(c, c->newest);
	map_fini(&c->map);
	pthread_cond_destroy(&c->loaded);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

static void add_text(struct strbuf *key, const char *s)
{
	strbuf_add(key, s ? s : "", s ? strlen(s) + 1 : 1);
}

/* Everything that the answer depends on: what is asked for, and with whose rights. */
static void make_key(const struct sym_ask *ask, struct strbuf *key)
{
	static const struct sym_places no_places;
	const struct sym_job *job = ask->job;
	const struct sym_places *p = job->places ? job->places : &no_places;
	const struct sym_cred *cred = job->cred;

	strbuf_printf(key, "%s %x %zu %016llx %d ", ask->kind->name, ask->flags,
		      ask->nr_ranges,
		      (unsigned long long)map_hash(ask->ranges,
						   ask->nr_ranges * sizeof(*ask->ranges)),
		      ask->options != NULL);
	add_text(key, ask->options);
	strbuf_printf(key, "%d %lld %d ", job->kind, (long long)job->mtime, cred != NULL);
	if (cred) {
		strbuf_printf(key, "%u %u ", (unsigned)cred->uid, (unsigned)cred->gid);
		strbuf_add(key, cred->groups, cred->nr_groups * sizeof(*cred->groups));
	}
	strbuf_add(key, &job->build_id, sizeof(job->build_id));
	add_text(key, job->path);
	add_text(key, job->name);
	add_text(key, p->debug_dir);
	add_text(key, p->kallsyms);
	add_text(key, p->modules);
	add_text(key, p->modules_dir);
	add_text(key, p->kernel_notes);
}

static bool same_time(const struct statx_timestamp *a, const struct statx_timestamp *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* The names of the running kernel are in no file that could change: NULL. */
static const char *file_of(const struct sym_job *job)
{
	if (job->kind == SYM_KALLSYMS)
		return job->places ? job->places->kallsyms : NULL;
	return job->path;
}

/*
 * Must not wait: the path may lead into the very mount that asks.  So it is only walked
 * where the kernel has all of it in memory; elsewhere the answer is "not known", and a
 * helper, which has limits, reads the file again.
 */
static struct sym_identity look_at(const struct sym_job *job)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_CACHED };
	const char *path = file_of(job);
	struct sym_identity id;
	CLEANUP(close_fd) int fd = -1;

	memset(&id, 0, sizeof(id));
	if (!path || !*path) {
		id.known = true;
		return id;
	}
	fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
	if (fd < 0) {
		id.known = errno == ENOENT || errno == ENOTDIR;
		return id;
	}
	id.known = !statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS,
			  &id.st);
	return id;
}

static bool same_identity(const struct sym_identity *a, const struct sym_identity *b)
{
	const struct statx *x = &a->st, *y = &b->st;

	return a->known && b->known && x->stx_ino == y->stx_ino &&
	       x->stx_dev_major == y->stx_dev_major &&
	       x->stx_dev_minor == y->stx_dev_minor && x->stx_size == y->stx_size &&
	       x->stx_mode == y->stx_mode && x->stx_uid == y->stx_uid &&
	       x->stx_gid == y->stx_gid && same_time(&x->stx_mtime, &y->stx_mtime) &&
	       same_time(&x->stx_ctime, &y->stx_ctime);
}

static bool is_fresh(const struct sym_ask *ask, const struct entry *e,
		     const struct sym_identity *now)
{
	int64_t limit;

	if (!e->thing || !same_identity(&e->identity, now))
		return false;
	limit = e->kind->good_for(ask->job, e->thing);
	return !limit || (int64_t)(clock_mono_ns() / CLOCK_NS_PER_S) - e->loaded_s < limit;
}

static struct entry *find_entry(struct sym_cache *c, const struct strbuf *key)
{
	uint64_t value;

	if (!map_get(&c->map, key->data, key->len, &value))
		return NULL;
	return (struct entry *)(uintptr_t)value;
}

/* A new entry that is loading, or NULL if out of memory. */
static struct entry *add_entry(struct sym_cache *c, const struct sym_cache_kind *kind,
			       struct strbuf *key)
{
	struct entry *e = calloc(1, sizeof(*e));

	if (!e || map_set(&c->map, key->data, key->len, (uintptr_t)e)) {
		free(e);
		return NULL;
	}
	e->kind = kind;
	e->key_len = key->len;
	e->key = strbuf_take(key);
	link_newest(c, e);
	c->stats.bytes += ENTRY_BYTES;
	c->stats.entries++;
	return e;
}

static void evict(struct sym_cache *c)
{
	struct entry *e = c->oldest, *next;

	for (; e && c->stats.bytes > c->max_bytes; e = next) {
		next = e->newer;
		if (e->loading || e->waiting)
			continue;
		remove_entry(c, e);
		c->stats.evicted++;
	}
}

static void wait_a_step(struct sym_cache *c, struct entry *e)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_nsec += STEP_NS;
	if (t.tv_nsec >= 1000000000) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000;
	}
	e->waiting++;
	pthread_cond_timedwait(&c->loaded, &c->lock, &t);
	e->waiting--;
}

/* The entry, not loading; NULL if none, or *rc set if the caller was cancelled. */
static struct entry *settled_entry(struct sym_cache *c, const struct strbuf *key,
				   const atomic_bool *cancel, int *rc)
{
	struct entry *e = find_entry(c, key);

	while (e && e->loading) {
		wait_a_step(c, e);
		if (cancel && atomic_load_explicit(cancel, memory_order_relaxed)) {
			*rc = -EINTR;
			return NULL;
		}
		e = find_entry(c, key);
	}
	return e;
}

static void store(struct sym_cache *c, struct entry *e, const struct sym_identity *id,
		  void *thing)
{
	drop_thing(c, e);
	e->thing = e->kind->get(thing);
	e->identity = *id;
	e->loaded_s = (int64_t)(clock_mono_ns() / CLOCK_NS_PER_S);
	c->stats.bytes += e->kind->bytes(thing);
}

/* With the lock, which it gives up meanwhile. */
static int load_entry(struct sym_cache *c, struct entry *e, const struct sym_ask *ask,
		      const struct sym_identity *id, void **out, struct err *err)
{
	void *thing = NULL;
	struct sym_identity late;
	int rc;

	c->stats.misses++;
	e->loading = true;
	pthread_mutex_unlock(&c->lock);
	rc = ask->kind->load(c->server, ask, &thing, err);
	if (!rc && !id->known) { /* by now the kernel has the path in memory */
		late = look_at(ask->job);
		late.known = late.known && ask->kind->is_of(thing, &late);
		id = &late;
	}
	pthread_mutex_lock(&c->lock);
	e->loading = false;
	if (!rc) {
		store(c, e, id, thing);
		*out = thing;
	} else if (!e->thing && !e->waiting) {
		remove_entry(c, e);
	}
	pthread_cond_broadcast(&c->loaded);
	evict(c);
	return rc;
}

static int load_locked(struct sym_cache *c, const struct sym_ask *ask, struct strbuf *key,
		       const struct sym_identity *id, void **out, struct err *err)
{
	int rc = 0;
	struct entry *e = settled_entry(c, key, ask->cancel, &rc);

	if (rc)
		return err_errno(err, rc, "symbols");
	if (e && is_fresh(ask, e, id)) {
		unlink_entry(c, e);
		link_newest(c, e);
		c->stats.hits++;
		*out = e->kind->get(e->thing);
		return 0;
	}
	if (!e)
		e = add_entry(c, ask->kind, key);
	if (!e)
		return err_errno(err, -ENOMEM, "symbols");
	return load_entry(c, e, ask, id, out, err);
}

int sym_cache_ask(struct sym_cache *c, const struct sym_ask *ask, void **out,
		  struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf key = { 0 };
	struct sym_identity id = look_at(ask->job);
	int rc;

	make_key(ask, &key);
	if (strbuf_error(&key))
		return err_errno(err, -ENOMEM, "symbols");
	pthread_mutex_lock(&c->lock);
	rc = load_locked(c, ask, &key, &id, out, err);
	pthread_mutex_unlock(&c->lock);
	return rc;
}

struct sym_server *sym_cache_server(struct sym_cache *c)
{
	return c->server;
}

void sym_cache_stats(struct sym_cache *c, struct sym_cache_stats *out)
{
	pthread_mutex_lock(&c->lock);
	*out = c->stats;
	pthread_mutex_unlock(&c->lock);
}
