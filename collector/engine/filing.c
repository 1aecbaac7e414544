/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/engine/filing.h"

#include <stdint.h>

/* Counts @n at a place, and adds its figures. */
static int add_to_sink(struct coll_collect *c, const struct coll_key *key, uint64_t at,
		       const struct coll_count *n)
{
	int rc = 0;
	uint64_t counts = n->samples + n->arcs, weight = n->weight;

	while (weight && !rc) {
		uint32_t some = weight < UINT32_MAX ? (uint32_t)weight : UINT32_MAX;

		rc = coll_sink_add(&c->sink, key, at, some, (uint32_t)counts);
		weight -= some;
		counts = 0;
	}
	return rc;
}

enum spec_stat coll_collect_file(struct coll_collect *c, const struct coll_key *key,
				 uint64_t at, const struct coll_count *count)
{
	if (coll_waiting_must(key))
		return coll_waiting_add(&c->waiting, key, at, count)
			       ? SPEC_STAT_LOST_SAMPLEFILE
			       : COLL_WAITS;
	return add_to_sink(c, key, at, count) ? SPEC_STAT_LOST_SAMPLEFILE
					      : SPEC_STAT_STORED;
}

/* Files what waited: its images are known now. */
static void file_row(void *ctx, const struct coll_waiting_row *row)
{
	struct coll_collect *c = ctx;
	const struct coll_count *n = &row->count;

	if (add_to_sink(c, &row->key, row->at, n)) {
		c->stats.value[SPEC_STAT_LOST_SAMPLEFILE] += n->samples;
		c->stats.value[SPEC_STAT_LOST_CG_FILE] += n->arcs;
		return;
	}
	c->stats.value[SPEC_STAT_STORED] += n->samples;
	c->stats.value[SPEC_STAT_EXT_HITS] += n->hits;
	c->stats.value[SPEC_STAT_ARCS] += n->arcs;
}

/* Images that were left out, too, are known by what they turned out to be. */
static void rename_left_out(struct coll_collect *c)
{
	for (const struct coll_image *img = c->images.other; img; img = img->next) {
		uint64_t to = (uintptr_t)coll_image_now(img), nr, sum = 0;

		if (!map_u64_get(&c->left_out, (uintptr_t)img, &nr))
			continue;
		map_u64_del(&c->left_out, (uintptr_t)img);
		map_u64_get(&c->left_out, to, &sum);
		map_u64_set(&c->left_out, to, sum + nr);
	}
}

void coll_collect_file_waiting(struct coll_collect *c)
{
	if (c->answers == c->images.answers)
		return;
	c->answers = c->images.answers;
	coll_waiting_file(&c->waiting, file_row, c);
	rename_left_out(c);
	coll_images_drop_other(&c->images);
}

uint64_t coll_collect_waiting(const struct coll_collect *c)
{
	return c->waiting.all.samples + c->deferred.samples;
}
