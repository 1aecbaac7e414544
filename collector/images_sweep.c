/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/images_impl.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

typedef VEC(struct coll_image *) image_list;

static struct coll_image *image_of(uint64_t value)
{
	return (struct coll_image *)(uintptr_t)value;
}

/* All images but those in their path's chain behind the first. */
static bool next_image(const struct coll_images *t, int *table, size_t *pos,
		       struct coll_image **img)
{
	const void *key;
	uint64_t value;
	size_t len;

	while (*table < 2) {
		const struct map *m = *table ? &t->others : &t->paths;

		while (map_next(m, pos, &key, &len, &value)) {
			if (*table && coll_images_is_label(key, len))
				continue;
			*img = image_of(value);
			return true;
		}
		++*table;
		*pos = 0;
	}
	return false;
}

bool coll_images_sweep_due(const struct coll_images *t)
{
	return t->sightings.used >= t->swept_at;
}

void coll_images_sweep_begin(struct coll_images *t)
{
	struct coll_image *img;
	const void *key;
	uint64_t value;
	size_t pos = 0, len;
	int table = 0;

	while (map_next(&t->sightings, &pos, &key, &len, &value))
		((struct coll_sighting *)(uintptr_t)value)->kept = false;
	pos = 0;
	while (next_image(t, &table, &pos, &img))
		for (; img; img = img->next)
			img->kept = false;
}

void coll_images_keep_image(struct coll_image *img)
{
	img->kept = true;
}

void coll_images_keep(struct coll_sighting *s)
{
	if (!s)
		return;
	s->kept = true;
	if (s->image)
		s->image->kept = true;
}

/* Without memory for the list it is swept another time. */
static void sweep_sightings(struct coll_images *t)
{
	VEC(struct coll_sighting *) gone = { 0 };
	const void *key;
	uint64_t value;
	size_t pos = 0, len;

	while (map_next(&t->sightings, &pos, &key, &len, &value)) {
		struct coll_sighting *s = (struct coll_sighting *)(uintptr_t)value;

		if (s->asked) /* an answer will come for it */
			coll_images_keep(s);
		if (!s->kept && vec_push(&gone, s))
			break;
	}
	vec_for(&gone, s) {
		map_del(&t->sightings, (*s)->key, (*s)->key_len);
		coll_sighting_free(*s);
	}
	vec_fini(&gone);
}

/* The kept ones of a chain; the others are freed. */
static struct coll_image *filter(struct coll_image *first)
{
	struct coll_image *kept = NULL, **end = &kept, *next;

	for (; first; first = next) {
		next = first->next;
		if (first->kept) {
			*end = first;
			end = &first->next;
		} else {
			coll_image_free(first);
		}
	}
	*end = NULL;
	return kept;
}

/* Rebuilds a table with what is kept; without memory for that, everything is. */
static void sweep_table(struct map *m)
{
	struct map kept = { 0 };
	const void *key;
	uint64_t value;
	size_t pos, len;

	for (pos = 0; map_next(m, &pos, &key, &len, &value);) {
		const struct coll_image *img = image_of(value);
		bool keep = coll_images_is_label(key, len);

		for (; !keep && img; img = img->next)
			keep = img->kept;
		if (keep && map_set(&kept, key, len, value)) {
			map_fini(&kept);
			return;
		}
	}
	for (pos = 0; map_next(m, &pos, &key, &len, &value);) {
		struct coll_image *first;

		if (coll_images_is_label(key, len))
			continue;
		first = filter(image_of(value));
		if (first && first != image_of(value))
			map_set(&kept, key, len, (uintptr_t)first); /* replaces */
	}
	map_fini(m);
	*m = kept;
}

void coll_images_sweep_end(struct coll_images *t, bool images)
{
	sweep_sightings(t);
	t->swept_at = 2 * t->sightings.used;
	if (t->swept_at < COLL_IMAGES_MIN_SWEEP)
		t->swept_at = COLL_IMAGES_MIN_SWEEP;
	if (!images)
		return;
	sweep_table(&t->paths);
	sweep_table(&t->others);
}

/* What could not be looked at may be there by now. */
static void look_again(struct coll_images *t)
{
	const void *key;
	uint64_t value;
	size_t pos = 0, len;

	while (map_next(&t->sightings, &pos, &key, &len, &value)) {
		struct coll_sighting *s = (struct coll_sighting *)(uintptr_t)value;

		s->again_ns = s->again_ns ? 1 : 0;
	}
}

void coll_images_move(struct coll_images *t, int session_fd)
{
	struct coll_image *img;
	int table = 0;
	size_t pos = 0;

	t->session_fd = session_fd;
	t->nr_moved = t->nr;
	spec_images_fini(&t->saved);
	while (next_image(t, &table, &pos, &img))
		for (; img; img = img->next)
			img->noted = img->name.kind == SPEC_IMAGE_ANON &&
				     !img->build_id.len;
	look_again(t);
}

static void want_pending(struct coll_images *t)
{
	const void *key;
	uint64_t value;
	size_t pos = 0, len;

	while (map_next(&t->sightings, &pos, &key, &len, &value)) {
		const struct coll_sighting *s = (struct coll_sighting *)(uintptr_t)value;

		if (s->image && s->image->pending)
			s->image->wanted = coll_image_wanted(t, s->image->path);
	}
}

void coll_images_want(struct coll_images *t, char **wanted, size_t nr)
{
	struct coll_image *img;
	int table = 0;
	size_t pos = 0;

	t->wanted = wanted;
	t->nr_wanted = nr;
	while (next_image(t, &table, &pos, &img))
		for (; img; img = img->next)
			img->wanted = coll_image_wanted(t, img->path);
	want_pending(t);
}
