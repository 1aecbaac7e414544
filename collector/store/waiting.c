/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/store/waiting.h"

#include <errno.h>

enum { MAX_ROWS = 1 << 19 };

/* All of a place, without padding. */
struct place {
	uint64_t app, image, callee, event, tgid, tid, cpu, at;
};

static struct place place_of(const struct coll_key *k, uint64_t at)
{
	return (struct place){ (uintptr_t)k->app,    (uintptr_t)k->image,
			       (uintptr_t)k->callee, k->event,
			       (uint64_t)k->tgid,    (uint64_t)k->tid,
			       (uint64_t)k->cpu,     at };
}

static bool is_pending(const struct coll_image *img)
{
	return img && coll_image_now(img)->pending;
}

bool coll_waiting_must(const struct coll_key *key)
{
	return is_pending(key->app) || is_pending(key->image) || is_pending(key->callee);
}

static void add_up(struct coll_count *to, const struct coll_count *more)
{
	to->weight += more->weight;
	to->samples += more->samples;
	to->hits += more->hits;
	to->arcs += more->arcs;
}

int coll_waiting_add(struct coll_waiting *w, const struct coll_key *key, uint64_t at,
		     const struct coll_count *count)
{
	const struct coll_waiting_row row = { .key = *key, .at = at, .count = *count };
	struct place place = place_of(key, at);
	uint64_t index;

	if (map_get(&w->by_place, &place, sizeof(place), &index)) {
		add_up(&w->rows.data[index].count, count);
	} else {
		if (w->rows.len >= MAX_ROWS || vec_push(&w->rows, row))
			return -ENOMEM;
		if (map_set(&w->by_place, &place, sizeof(place), w->rows.len - 1)) {
			w->rows.len--;
			return -ENOMEM;
		}
	}
	add_up(&w->all, count);
	return 0;
}

void coll_waiting_file(struct coll_waiting *w,
		       void (*file)(void *ctx, const struct coll_waiting_row *row),
		       void *ctx)
{
	struct coll_waiting old = *w;

	*w = (struct coll_waiting){ 0 };
	vec_for(&old.rows, row) {
		struct coll_key *k = &row->key;

		k->app = coll_image_now(k->app);
		k->image = coll_image_now(k->image);
		k->callee = coll_image_now(k->callee);
		/* without memory for it the file is asked, which fails and says so */
		if (!coll_waiting_must(k) || coll_waiting_add(w, k, row->at, &row->count))
			file(ctx, row);
	}
	coll_waiting_fini(&old);
}

void coll_waiting_fini(struct coll_waiting *w)
{
	map_fini(&w->by_place);
	vec_fini(&w->rows);
	*w = (struct coll_waiting){ 0 };
}
