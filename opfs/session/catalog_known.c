/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/session/catalog_known.h"

#include <pthread.h>
#include <search.h>
#include <string.h>

#include "base/fnv.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *known; /* tsearch(3) of struct catalog, by order() */

static uint64_t mix(uint64_t h, const void *data, size_t len)
{
	return fnv_add(h, map_hash(data, len));
}

static uint64_t mix_readers(uint64_t h, const struct stat *table)
{
	h = mix(h, &table->st_mode, sizeof(table->st_mode));
	h = mix(h, &table->st_uid, sizeof(table->st_uid));
	h = mix(h, &table->st_gid, sizeof(table->st_gid));
	return mix(h, &table->st_mtim, sizeof(table->st_mtim));
}

void catalog_hash(struct catalog *c)
{
	uint64_t h = FNV_START;

	for (size_t i = 0; i < c->nr_files; i++) {
		const struct catalog_file *f = &c->files[i];

		h = mix(h, &f->dir, sizeof(f->dir));
		h = mix(h, f->path, strlen(f->path));
		h = mix(h, &f->total, sizeof(f->total));
		h = mix(h, &f->stacks.total, sizeof(f->stacks.total));
		h = mix(h, &f->stacks.nr_nodes, sizeof(f->stacks.nr_nodes));
		h = mix(h, &f->header, sizeof(f->header));
	}
	for (size_t i = 0; i < c->nr_bad; i++) {
		h = mix(h, c->bad[i].path, strlen(c->bad[i].path));
		h = mix(h, c->bad[i].reason, strlen(c->bad[i].reason));
	}
	for (size_t i = 0; i < c->nr_dirs; i++) {
		const struct catalog_dir *d = &c->dirs[i];

		h = mix(h, &d->dev, sizeof(d->dev));
		h = mix(h, &d->ino, sizeof(d->ino));
		h = mix(h, &d->owner, sizeof(d->owner));
		h = mix_readers(h, &d->tasks.file);
		h = mix_readers(h, &d->regions.file);
		h = mix(h, &d->stats, sizeof(d->stats));
		h = mix(h, &d->live.generation, sizeof(d->live.generation));
		h = mix(h, &d->live.closed, sizeof(d->live.closed));
		h = mix(h, &d->nr_notes, sizeof(d->nr_notes));
		h = mix(h, &d->nr_throttled, sizeof(d->nr_throttled));
		h = mix(h, &d->rows.nr, sizeof(d->rows.nr));
	}
	c->hash = h;
}

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* A hash alone would be of no worth: whoever writes a session can give it any. */
static int order(const void *a, const void *b)
{
	const struct catalog *x = a, *y = b;
	const struct catalog_dir *d = &x->dirs[0], *e = &y->dirs[0];
	int rc = compare(x->hash, y->hash);

	rc = rc ? rc : compare(d->dev, e->dev);
	rc = rc ? rc : compare(d->ino, e->ino);
	rc = rc ? rc : compare(d->mtime_ns, e->mtime_ns);
	rc = rc ? rc : strcmp(d->session, e->session);
	return rc ? rc : strcmp(x->session_dir, y->session_dir);
}

/* A reference, or NULL: another thread is about to free it. */
static struct catalog *get_alive(struct catalog *c)
{
	int refs = __atomic_load_n(&c->refs, __ATOMIC_RELAXED);

	while (refs && !__atomic_compare_exchange_n(&c->refs, &refs, refs + 1, false,
						    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		;
	return refs ? c : NULL;
}

struct catalog *catalog_known(const struct catalog *c)
{
	struct catalog **at, *found = NULL;

	pthread_mutex_lock(&lock);
	at = tfind(c, &known, order);
	if (at)
		found = get_alive(*at);
	pthread_mutex_unlock(&lock);
	return found;
}

struct catalog *catalog_know(struct catalog *c)
{
	struct catalog **at, *found = NULL;

	pthread_mutex_lock(&lock);
	at = tsearch(c, &known, order);
	if (at && *at != c)
		found = get_alive(*at);
	if (at && !found) {
		*at = c;
		c->known = true;
	}
	pthread_mutex_unlock(&lock);
	return found;
}

void catalog_unknow(struct catalog *c)
{
	struct catalog **at;

	pthread_mutex_lock(&lock);
	at = tfind(c, &known, order);
	if (at && *at == c)
		tdelete(c, &known, order);
	pthread_mutex_unlock(&lock);
}
