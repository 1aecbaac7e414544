/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/profile/hits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Which rows have samples where: sorted, then distributed in one pass. */

void profile_spots_fini(struct profile_spots *s)
{
	vec_fini(&s->list);
	free(s->spare);
	*s = (struct profile_spots){ 0 };
}

static int reserve_spare(struct profile_spots *s)
{
	if (s->nr_spare >= s->list.len)
		return 0;
	free(s->spare);
	s->spare = malloc(s->list.cap * sizeof(*s->spare));
	s->nr_spare = s->spare ? s->list.cap : 0;
	return s->spare ? 0 : -ENOMEM;
}

int profile_spots_sort(struct profile_spots *s)
{
	if (s->list.len < 2)
		return 0;
	if (reserve_spare(s))
		return -ENOMEM;
	sort_items(s->list.data, s->list.len, s->spare);
	return 0;
}

/* Makes room for the hits of all rows of @slots; sets where each row's hits begin. */
static int make_room(struct profile_build *b, const uint32_t *slots, size_t nr,
		     const uint32_t *row_of_slot)
{
	size_t nr_classes = b->p->nr_classes;
	uint64_t bytes = nr * sizeof(uint64_t) * (1 + nr_classes);
	uint64_t *hits;

	if (bytes > PROFILE_MAX_HIT_BYTES - b->hit_bytes)
		return err_set(b->err, -E2BIG,
			       "places with samples of all columns take more than %llu "
			       "MiB: choose a part with event:, image: or cpu:",
			       PROFILE_MAX_HIT_BYTES >> 20);
	b->hit_bytes += bytes;
	hits = arena_calloc(&b->p->arena, nr, (1 + nr_classes) * sizeof(*hits));
	if (!hits)
		return profile_no_memory(b);
	for (size_t i = 0; i < nr; i++)
		b->rows.data[row_of_slot[slots[i]]].nr_hits++;
	for (size_t i = 0; i < nr; i++) {
		struct profile_row *row = &b->rows.data[row_of_slot[slots[i]]];

		if (row->hits)
			continue;
		row->hits = hits;
		hits += row->nr_hits * (1 + nr_classes);
	}
	return 0;
}

/* Returns where its samples go.  The last hit of a row counts the others until it is
 * known itself. */
static uint64_t *add_hit(struct profile_row *row, uint64_t off, size_t nr_classes)
{
	uint64_t *hits = (uint64_t *)row->hits, *last = hits + row->nr_hits - 1;
	uint64_t at = *last;

	++*last;
	hits[at] = off;
	return hits + row->nr_hits + at * nr_classes;
}

int profile_spots_share(struct profile_build *b, const struct profile_spots *s,
			const uint32_t *slots, size_t nr_offs,
			const uint32_t *row_of_slot)
{
	const struct sort_item *spots = s->list.data;
	size_t nr_classes = b->p->nr_classes, off = 0;
	uint64_t *to = NULL; /* samples of a hit */
	int rc;

	if (!nr_offs)
		return 0;
	rc = make_room(b, slots, nr_offs, row_of_slot);
	for (size_t i = 0; i < s->list.len && !rc; i++) {
		if (!i || spots[i].key != spots[i - 1].key)
			to = add_hit(&b->rows.data[row_of_slot[slots[off++]]],
				     spots[i].key, nr_classes);
		to[spots[i].b] += spots[i].a;
	}
	return rc;
}
