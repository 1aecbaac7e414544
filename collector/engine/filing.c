/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/engine/filing.h"

#include <stdint.h>

/* Counts @n at a place. */
static int add_to_sink(struct coll_sink *s, const struct coll_key *key, uint64_t at,
		       const struct coll_count *n)
{
	int rc = 0;
	uint64_t counts = n->samples, weight = n->weight;

	while (weight && !rc) {
		uint32_t some = weight < UINT32_MAX ? (uint32_t)weight : UINT32_MAX;

		rc = coll_sink_add(s, key, at, some, (uint32_t)counts);
		weight -= some;
		counts = 0;
	}
	return rc;
}

/* How a stack ends that is not whole: a figure of its own. */
static void count_end(struct coll_collect *c, const struct coll_frame *first,
		      uint32_t node, uint64_t samples)
{
	static const struct {
		uint64_t end;
		enum spec_stat figure;
	} ends[] = {
		{ SPEC_STACK_DEPTH, SPEC_STAT_STACKS_DEPTH },
		{ SPEC_STACK_NO_MAPPING, SPEC_STAT_STACKS_NO_MAPPING },
		{ SPEC_STACK_FULL, SPEC_STAT_STACKS_FULL },
		{ SPEC_STACK_COPY_SHORT, SPEC_STAT_STACKS_COPY_SHORT },
		{ SPEC_STACK_NO_COPY, SPEC_STAT_STACKS_NOT_COPIED },
		{ SPEC_STACK_NO_UNWIND, SPEC_STAT_STACKS_NO_UNWIND },
		{ SPEC_STACK_DAMAGED, SPEC_STAT_STACKS_DAMAGED },
		{ SPEC_STACK_NO_REGISTERS, SPEC_STAT_STACKS_NO_REGISTERS },
	};
	uint64_t end = node == SPEC_STACK_FIRST ? SPEC_STACK_FULL
		       : first->image           ? 0
						: first->off;

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (end == ends[i].end)
			c->stats.value[ends[i].figure] += samples;
}

static uint32_t node_of(struct coll_collect *c, const struct coll_stack *stack)
{
	uint32_t node;

	return coll_stack_sink_node(&c->stacks, c->separate, stack, &node) ? 0 : node;
}

/* Counts the stack, unless it has no node, in the file of the same name. */
static void count_stack(struct coll_collect *c, const struct coll_key *key,
			const struct coll_stack *stack, uint32_t node,
			const struct coll_count *n)
{
	if (!node || add_to_sink(&c->stacks.sink, key, node, n)) {
		c->stats.value[SPEC_STAT_LOST_STACKFILE] += n->samples;
		return;
	}
	c->stats.value[SPEC_STAT_STACKS] += n->samples;
	count_end(c, &stack->frames[stack->nr - 1], node, n->samples);
}

/*
 * A kill leaves no stack without its sample, for that is counted first, and no sample
 * that nothing tells a stack was wanted of, for the table is made before.
 */
static int count_both(struct coll_collect *c, const struct coll_key *separated,
		      uint64_t at, const struct coll_stack *stack,
		      const struct coll_count *n)
{
	struct coll_key key = *separated;
	bool folded = coll_sink_fold(&c->sink, &key);
	uint32_t node = stack ? node_of(c, stack) : 0;
	int rc = add_to_sink(&c->sink, &key, at, n);

	if (!rc && folded)
		c->stats.value[SPEC_STAT_FOLDED] += n->samples;
	if (rc || !stack)
		return rc;
	/* the file of that name was of another binary: this one got another name */
	if (node && key.image->stack_table != c->stacks.table)
		node = node_of(c, stack);
	count_stack(c, &key, stack, node, n);
	return 0;
}

enum spec_stat coll_collect_file(struct coll_collect *c, const struct coll_key *key,
				 uint64_t at, const struct coll_stack *stack,
				 const struct coll_count *count)
{
	if (coll_waiting_must(key, stack))
		return coll_waiting_add(&c->waiting, key, at, stack, count)
			       ? SPEC_STAT_LOST_SAMPLEFILE
			       : COLL_WAITS;
	return count_both(c, key, at, stack, count) ? SPEC_STAT_LOST_SAMPLEFILE
						    : SPEC_STAT_STORED;
}

/* Files what waited: its images are known now. */
static void file_row(void *ctx, const struct coll_waiting_row *row,
		     const struct coll_stack *stack)
{
	struct coll_collect *c = ctx;
	const struct coll_count *n = &row->count;

	if (count_both(c, &row->key, row->at, stack, n)) {
		c->stats.value[SPEC_STAT_LOST_SAMPLEFILE] += n->samples;
		return;
	}
	c->stats.value[SPEC_STAT_STORED] += n->samples;
	c->stats.value[SPEC_STAT_EXT_HITS] += n->hits;
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
