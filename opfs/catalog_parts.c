/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/catalog_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "libspec/manifest.h"

/* What is remembered at most, and for how many sums that do not need it. */
enum { MAX_PARTS = 4096, MAX_FILES = 1 << 18, IDLE_TURNS = 64 };

struct part {
	struct catalog *cat;
	uint64_t turn; /* the last sum that needed it */
};

struct catalog_parts {
	pthread_mutex_t lock; /* of all below; a leaf */
	VEC(struct part) list;
	struct map by_name; /* session -> index in @list */
	uint64_t turn;      /* sums that were made */
	size_t nr_files;
};

struct catalog_parts *catalog_parts_new(void)
{
	struct catalog_parts *p = calloc(1, sizeof(*p));

	if (p)
		pthread_mutex_init(&p->lock, NULL);
	return p;
}

void catalog_parts_free(struct catalog_parts *p)
{
	if (!p)
		return;
	vec_for(&p->list, part)
		catalog_put(part->cat);
	vec_fini(&p->list);
	map_fini(&p->by_name);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

bool catalog_parts_is_same(const struct catalog_dir *d, int samples_fd)
{
	struct stat st;

	return d->sealed && !fstatat(samples_fd, d->session, &st, 0) &&
	       st.st_dev == d->dev && st.st_ino == d->ino &&
	       clock_ns_of(&st.st_mtim) == d->mtime_ns;
}

static struct part *find(struct catalog_parts *p, const char *name)
{
	uint64_t at;

	return map_get(&p->by_name, name, strlen(name), &at) ? &p->list.data[at] : NULL;
}

/* The last one takes its place. */
static void forget(struct catalog_parts *p, struct part *part)
{
	struct part *last = &p->list.data[p->list.len - 1];
	const char *name = part->cat->dirs[0].session;

	map_del(&p->by_name, name, strlen(name));
	p->nr_files -= part->cat->nr_files;
	catalog_put(part->cat);
	p->list.len--;
	if (part == last)
		return;
	*part = *last;
	name = part->cat->dirs[0].session;
	/* it is there: nothing is allocated */
	(void)!map_set(&p->by_name, name, strlen(name), (size_t)(part - p->list.data));
}

/* One that the caller puts; NULL: not remembered, or another directory has its name. */
static struct catalog *recall(struct catalog_parts *p, int samples_fd, const char *name)
{
	struct catalog *found = NULL;
	struct part *part;

	pthread_mutex_lock(&p->lock);
	part = find(p, name);
	if (part && catalog_parts_is_same(&part->cat->dirs[0], samples_fd)) {
		part->turn = p->turn;
		found = catalog_get(part->cat);
	} else if (part) {
		forget(p, part);
	}
	pthread_mutex_unlock(&p->lock);
	return found;
}

static void remember(struct catalog_parts *p, struct catalog *one)
{
	const char *name = one->dirs[0].session;
	struct part *old;

	/* what cannot be read may be readable another time */
	if (!one->dirs[0].sealed || one->nr_bad)
		return;
	pthread_mutex_lock(&p->lock);
	old = find(p, name);
	if (old)
		forget(p, old);
	if (!map_set(&p->by_name, name, strlen(name), p->list.len)) {
		if (vec_push(&p->list, ((struct part){ one, p->turn }))) {
			map_del(&p->by_name, name, strlen(name));
		} else {
			catalog_get(one);
			p->nr_files += one->nr_files;
		}
	}
	pthread_mutex_unlock(&p->lock);
}

/* ---- into a sum */

static bool has_manifest(int samples_fd, const char *name)
{
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };

	strbuf_printf(&path, "%s/" SPEC_MANIFEST, name);
	return !strbuf_error(&path) &&
	       !faccessat(samples_fd, strbuf_str(&path), F_OK, AT_SYMLINK_NOFOLLOW);
}

static int add_files(struct catalog_build *b, const struct catalog *one)
{
	int rc = 0;

	for (size_t i = 0; i < one->nr_files && !rc; i++) {
		CLEANUP(spec_name_fini) struct spec_name name = { 0 };
		const struct catalog_file *f = &one->files[i];
		struct spec_sample_reader r = { .fd = -1,
						.nr_nodes = f->nr_nodes,
						.header = f->header };

		/* called as in its session: a sum has its own names for images */
		rc = spec_name_parse(f->path, one->dirs[0].escaped, &name, b->err);
		rc = rc ? rc : catalog_add_file(b, &name, f->path, &r, f->total, 0);
		if (!rc && i < one->nr_flat)
			b->flat.data[b->flat.len - 1].task = f->task;
		else if (!rc)
			b->cg.data[b->cg.len - 1].task = f->task;
	}
	return rc;
}

static int add_part(struct catalog_build *b, struct catalog *one)
{
	struct catalog_dir *d = &b->c->dirs[b->c->nr_dirs++];
	int rc;

	*d = one->dirs[0];
	d->part = catalog_get(one);
	if (one->drained_ns > b->c->drained_ns)
		b->c->drained_ns = one->drained_ns;
	rc = add_files(b, one);
	for (size_t i = 0; i < one->nr_bad && !rc; i++)
		if (vec_push(&b->bad, one->bad[i]))
			rc = catalog_no_memory(b);
	return rc;
}

int catalog_parts_read(struct catalog_parts *p, struct catalog_build *b,
		       int session_dir_fd, int samples_fd, const char *name)
{
	char *names[] = { (char *)(uintptr_t)name };
	struct catalog *one = recall(p, samples_fd, name);
	int rc = 0;

	if (!one) {
		if (!strcmp(name, "current") || !has_manifest(samples_fd, name))
			return -EAGAIN;
		rc = catalog_load(session_dir_fd, names, 1, NULL, b->viewer, &one,
				  b->err);
		if (rc)
			return rc;
		remember(p, one);
	}
	rc = add_part(b, one);
	catalog_put(one);
	return rc;
}

static void forget_older(struct catalog_parts *p, uint64_t turn)
{
	for (size_t i = p->list.len; i--;)
		if (p->list.data[i].turn < turn)
			forget(p, &p->list.data[i]);
}

static bool is_too_much(const struct catalog_parts *p)
{
	return p->list.len > MAX_PARTS || p->nr_files > MAX_FILES;
}

void catalog_parts_trim(struct catalog_parts *p)
{
	pthread_mutex_lock(&p->lock);
	if (is_too_much(p))
		forget_older(p, p->turn);
	if (is_too_much(p))
		forget_older(p, UINT64_MAX);
	p->turn++;
	if (p->turn > IDLE_TURNS)
		forget_older(p, p->turn - IDLE_TURNS);
	pthread_mutex_unlock(&p->lock);
}
