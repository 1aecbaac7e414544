/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_OPFS_MADE_UP_TREE_H
#define TESTS_UNIT_OPFS_MADE_UP_TREE_H

/*
 * A tree whose reports take as long as a test wants, in the place of the real one: the
 * functions of opfs/tree/tree.h, for one test program that includes this once.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "opfs/tree/tree.h"

enum { NR_NAMES = 3000, LARGE = 20 << 20, TEXT_ROOM = 4096 };

/* Shared by the test and the mount. */
static struct shared {
	atomic_int generation, renders, running, cancelled, release, removed, asked,
		caught, forgotten;
} * sh;

struct tree {
	struct catalog saved;
	struct catalog live[64]; /* by generation */
	struct cache *cache;
};

int tree_new(const struct tree_options *o, struct tree **out, struct err *err)
{
	struct tree *t = calloc(1, sizeof(*t));

	(void)err;
	t->cache = cache_new(o->cache_bytes);
	t->saved.saved = true;
	t->saved.generation = 1;
	for (int i = 0; i < 64; i++)
		t->live[i].generation = 100 + (uint64_t)i;
	*out = t;
	return 0;
}

void tree_free(struct tree *t)
{
	cache_free(t->cache);
	free(t);
}

void tree_forget(struct tree *t, const char *session)
{
	(void)t;
	sh->forgotten |= !strcmp(session, "saved");
}

struct cache *tree_cache(struct tree *t)
{
	return t->cache;
}

void place_root(struct place *out)
{
	*out = (struct place){ .kind = PLACE_ROOT };
}

void place_fini(struct place *p)
{
	free(p->value);
	free(p->target);
	*p = (struct place){ 0 };
}

int place_copy(const struct place *from, struct place *to)
{
	*to = *from;
	to->value = from->value ? strdup(from->value) : NULL;
	to->target = from->target ? strdup(from->target) : NULL;
	return 0;
}

static bool is(const char *name, size_t len, const char *what)
{
	return strlen(what) == len && !memcmp(name, what, len);
}

static int session(struct tree *t, const char *name, size_t len, struct place *to)
{
	to->kind = PLACE_PROFILE;
	if (is(name, len, "saved") && !sh->removed)
		to->cat = &t->saved;
	else if (is(name, len, "live"))
		to->cat = &t->live[sh->generation];
	else
		return -ENOENT;
	return 0;
}

int tree_step(struct tree *t, const struct place *from, const char *name, size_t len,
	      const struct viewer *v, struct place *to, struct err *err)
{
	static const char *const files[] = { "report", "slow", "large", "tiny" };

	(void)v, (void)err;
	*to = (struct place){ .cat = from->cat, .kind = PLACE_FILE };
	if (from->kind == PLACE_ROOT) {
		if (!is(name, len, "status"))
			return session(t, name, len, to);
		to->file = "status";
		return 0;
	}
	if (is(name, len, "link")) {
		to->kind = PLACE_LINK;
		to->target = strdup("report");
		return 0;
	}
	if (is(name, len, "names")) {
		to->kind = PLACE_VALUES;
		return 0;
	}
	if (is(name, len, "bad"))
		return -EINVAL;
	for (size_t i = 0; i < 4; i++)
		if (is(name, len, files[i]))
			to->file = files[i];
	return to->file ? 0 : -ENOENT;
}

bool tree_is_probe(const char *name, size_t len)
{
	return len && name[0] == '.';
}

int tree_refresh(struct tree *t, struct place *p, const struct viewer *v, struct err *err)
{
	(void)v, (void)err;
	if (p->cat == &t->saved)
		return sh->removed ? -ENOENT : 0;
	if (p->cat)
		p->cat = &t->live[sh->generation];
	return 0;
}

int tree_list(struct tree *t, const struct place *p, const struct viewer *v,
	      int (*emit)(void *ctx, const struct tree_entry *e), void *ctx,
	      struct err *err)
{
	char name[32];
	int rc = 0;

	(void)t, (void)v, (void)err;
	if (p->kind == PLACE_ROOT) {
		if (!sh->removed)
			rc = emit(ctx, &(struct tree_entry){ "saved", PLACE_PROFILE });
		return rc ? rc : emit(ctx, &(struct tree_entry){ "live", PLACE_PROFILE });
	}
	if (p->kind == PLACE_PROFILE)
		return emit(ctx, &(struct tree_entry){ "report", PLACE_FILE });
	for (int i = 0; i < NR_NAMES && !rc; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		rc = emit(ctx, &(struct tree_entry){ name, PLACE_PROFILE });
	}
	return rc;
}

static int slow(const struct viewer *v)
{
	struct timespec nap = { .tv_nsec = 1000000 };

	atomic_fetch_add(&sh->running, 1);
	while (!sh->release && !viewer_gone(v))
		nanosleep(&nap, NULL);
	atomic_fetch_sub(&sh->running, 1);
	if (!viewer_gone(v))
		return 0;
	atomic_fetch_add(&sh->cancelled, 1);
	return -EINTR;
}

static int large_text(struct text *x)
{
	char block[4096];

	x->len = LARGE;
	x->fd = memfd_create("text", MFD_CLOEXEC);
	for (size_t i = 0; i < LARGE / sizeof(block); i++) {
		memset(block, 'a' + (int)(i % 26), sizeof(block));
		if (write(x->fd, block, sizeof(block)) != sizeof(block))
			return -EIO;
	}
	return 0;
}

int tree_text(struct tree *t, const struct place *p, const struct viewer *v,
	      struct text **out, struct err *err)
{
	struct text *x = calloc(1, sizeof(*x));
	const char *name = p->file;
	int rc = 0;

	(void)t, (void)err;
	x->refs = 1;
	x->fd = -1;
	atomic_fetch_add(&sh->renders, 1);
	if (!strcmp(name, "slow"))
		rc = slow(v);
	if (!strcmp(name, "large")) {
		rc = large_text(x);
	} else if (!rc) {
		x->data = malloc(TEXT_ROOM);
		if (!p->cat)
			x->len =
				(size_t)sprintf(x->data, "asked %d times\n", ++sh->asked);
		else
			x->len = (size_t)sprintf(x->data, "%s of %d%*s\n", name,
						 (int)p->cat->generation,
						 (int)p->cat->generation % 100, "");
	}
	if (rc)
		text_put(x);
	else
		*out = x;
	return rc;
}

struct text *tree_text_cached(struct tree *t, const struct place *p,
			      const struct viewer *v)
{
	(void)t, (void)p, (void)v;
	return NULL;
}

uint64_t place_samples(const struct place *p)
{
	return p->cat ? 250 : 0;
}

uint64_t place_session_samples(const struct place *p)
{
	return p->cat ? 1000 : 0;
}

uint64_t place_mtime_ns(const struct place *p)
{
	return p->cat ? 1700000000123456789u + p->cat->generation : 0;
}

int tree_mode(struct tree *t, const struct place *p, mode_t *mode, uid_t *uid, gid_t *gid)
{
	(void)t, (void)p;
	*mode = 0555;
	*uid = 12;
	*gid = 34;
	return 0;
}

#endif
