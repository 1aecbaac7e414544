/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/rec/deferred.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collector/rec/ext.h"

enum { MAX_BYTES = 64 << 20 };

/* What is kept begins at multiples of 8 bytes. */
#define ROOM(len) (((len) + 7) & ~(size_t)7)

struct coll_held {
	struct coll_held *next;
	struct coll_rec rec; /* points into @data */
	size_t len;
	_Alignas(uint64_t) char data[];
};

struct coll_group *coll_deferred_find(const struct coll_deferred *d, uint32_t tgid)
{
	uint64_t value;

	return d->by_tgid.used && map_u64_get(&d->by_tgid, tgid, &value)
		       ? (struct coll_group *)(uintptr_t)value
		       : NULL;
}

struct coll_group *coll_deferred_begin(struct coll_deferred *d, uint32_t tgid)
{
	struct coll_group *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->tgid = tgid;
	g->end = &g->first;
	if (map_u64_set(&d->by_tgid, tgid, (uintptr_t)g)) {
		free(g);
		return NULL;
	}
	return g;
}

/* A copy of what is elsewhere, in the room at *@at; NULL: there is nothing. */
static void *keep(char **at, const void *from, size_t len)
{
	void *to = *at;

	if (!len)
		return NULL;
	memcpy(to, from, len);
	*at += ROOM(len);
	return to;
}

static size_t size_of_sample(const struct coll_sample *s)
{
	const struct coll_user_stack *u = s->user_stack;

	return ROOM(s->nr_ips * sizeof(*s->ips)) +
	       ROOM(s->nr_places * sizeof(*s->places)) +
	       (s->who ? ROOM(sizeof(*s->who)) : 0) +
	       (u ? ROOM(sizeof(*u)) + ROOM(u->size) +
				ROOM(u->nr_ranges * sizeof(*u->ranges))
		  : 0) +
	       (s->ext ? ROOM(sizeof(*s->ext)) + s->ext->nr * sizeof(*s->ext->regs) : 0);
}

static void keep_sample(struct coll_sample *s, char *at)
{
	struct coll_ext_sample *ext;
	struct coll_user_stack *u;

	s->ips = keep(&at, s->ips, s->nr_ips * sizeof(*s->ips));
	s->places = keep(&at, s->places, s->nr_places * sizeof(*s->places));
	s->who = keep(&at, s->who, s->who ? sizeof(*s->who) : 0);
	if (s->ext) {
		ext = keep(&at, s->ext, sizeof(*ext));
		ext->regs = keep(&at, ext->regs, ext->nr * sizeof(*ext->regs));
		s->ext = ext;
	}
	if (!s->user_stack)
		return;
	u = keep(&at, s->user_stack, sizeof(*u));
	u->bytes = keep(&at, u->bytes, u->size);
	u->ranges = keep(&at, u->ranges, u->nr_ranges * sizeof(*u->ranges));
	s->user_stack = u;
}

/* The text that a record has elsewhere; NULL: none. */
static const char **text_of(struct coll_rec *rec)
{
	switch (rec->kind) {
	case COLL_REC_MMAP:
		return &rec->mmap.filename;
	case COLL_REC_COMM:
		return &rec->comm.name;
	default:
		return NULL;
	}
}

static struct coll_held *copy(const struct coll_rec *rec)
{
	struct coll_rec to = *rec;
	const char **text = text_of(&to);
	size_t len = text                           ? strlen(*text) + 1
		     : rec->kind == COLL_REC_SAMPLE ? size_of_sample(&rec->sample)
						    : 0;
	struct coll_held *h = malloc(sizeof(*h) + ROOM(len));
	char *at;

	if (!h)
		return NULL;
	*h = (struct coll_held){ .rec = to, .len = sizeof(*h) + ROOM(len) };
	at = h->data;
	text = text_of(&h->rec);
	if (text)
		*text = keep(&at, *text, len);
	else if (rec->kind == COLL_REC_SAMPLE)
		keep_sample(&h->rec.sample, at);
	return h;
}

/* The child's records wait for its parent's; it may have a number of an earlier group. */
static int join(struct coll_deferred *d, struct coll_group *g, uint32_t child)
{
	struct coll_group *old = coll_deferred_find(d, child);

	if (old == g) {
		g->changed |= child == g->tgid;
		return 0;
	}
	if (old && old->tgid == child)
		return 0; /* which then goes on: its answer tells of this one */
	if (vec_push(&g->others, child))
		return -ENOMEM;
	return map_u64_set(&d->by_tgid, child, (uintptr_t)g);
}

int coll_deferred_add(struct coll_deferred *d, struct coll_group *g,
		      const struct coll_rec *rec)
{
	struct coll_held *h = d->bytes < MAX_BYTES ? copy(rec) : NULL;

	if (!h)
		return -ENOMEM;
	if (rec->kind == COLL_REC_FORK && rec->tgid != rec->parent.tgid &&
	    join(d, g, rec->tgid)) {
		free(h);
		return -ENOMEM;
	}
	if (rec->kind == COLL_REC_COMM && rec->comm.exec && rec->tgid == g->tgid)
		g->changed = true;
	*g->end = h;
	g->end = &h->next;
	d->bytes += h->len;
	d->samples += rec->kind == COLL_REC_SAMPLE;
	return 0;
}

static void remove_tgid(struct coll_deferred *d, const struct coll_group *g,
			uint32_t tgid)
{
	if (coll_deferred_find(d, tgid) == g)
		map_u64_del(&d->by_tgid, tgid);
}

struct coll_held *coll_deferred_end(struct coll_deferred *d, struct coll_group *g)
{
	struct coll_held *first = g->first;

	for (const struct coll_held *h = first; h; h = h->next) {
		d->bytes -= h->len;
		d->samples -= h->rec.kind == COLL_REC_SAMPLE;
	}
	remove_tgid(d, g, g->tgid);
	vec_for(&g->others, tgid)
		remove_tgid(d, g, *tgid);
	vec_fini(&g->others);
	free(g);
	return first;
}

const struct coll_rec *coll_held_rec(const struct coll_held *h)
{
	return &h->rec;
}

struct coll_held *coll_held_next(struct coll_held *h)
{
	struct coll_held *next = h->next;

	free(h);
	return next;
}

void coll_deferred_fini(struct coll_deferred *d)
{
	uint64_t tgid, value;
	size_t pos = 0;

	while (map_u64_next(&d->by_tgid, &pos, &tgid, &value)) {
		struct coll_held *h =
			coll_deferred_end(d, (struct coll_group *)(uintptr_t)value);

		while (h)
			h = coll_held_next(h);
		pos = 0;
	}
	map_u64_fini(&d->by_tgid);
}
