/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/rec/deferred.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 64 << 20 };

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

/* The one part of a record of each kind that is stored elsewhere. */
static const void *outside(const struct coll_rec *rec, size_t *len)
{
	*len = 0;
	switch (rec->kind) {
	case COLL_REC_SAMPLE:
		*len = rec->sample.nr_ips * sizeof(*rec->sample.ips);
		return rec->sample.ips;
	case COLL_REC_MMAP:
		*len = strlen(rec->mmap.filename) + 1;
		return rec->mmap.filename;
	case COLL_REC_COMM:
		*len = strlen(rec->comm.name) + 1;
		return rec->comm.name;
	default:
		return NULL;
	}
}

static struct coll_held *copy(const struct coll_rec *rec)
{
	size_t len;
	const void *data = outside(rec, &len);
	struct coll_held *h = malloc(sizeof(*h) + len);

	if (!h)
		return NULL;
	h->next = NULL;
	h->rec = *rec;
	h->len = sizeof(*h) + len;
	if (!len)
		return h;
	memcpy(h->data, data, len);
	if (rec->kind == COLL_REC_SAMPLE)
		h->rec.sample.ips = (const uint64_t *)h->data;
	else if (rec->kind == COLL_REC_MMAP)
		h->rec.mmap.filename = h->data;
	else
		h->rec.comm.name = h->data;
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
