/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/profile/filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "opfs/profile/profile.h"

enum { GONE, ASIDE, KEPT };

/* Marks rows that are kept, and rows that stay only as the other end of an arc. */
static unsigned char *choose_rows(const struct profile *full,
				  bool (*keep)(void *ctx, const struct profile_row *row),
				  void *ctx)
{
	unsigned char *of = calloc(full->nr_rows + 1, 1);

	for (size_t i = 0; of && i < full->nr_rows; i++)
		if (!full->rows[i].aside && keep(ctx, &full->rows[i]))
			of[i] = KEPT;
	for (size_t i = 0; of && i < full->nr_arcs; i++) {
		const struct profile_arc *arc = &full->arcs[i];

		if (of[arc->caller] == KEPT && !of[arc->callee])
			of[arc->callee] = ASIDE;
		if (of[arc->callee] == KEPT && !of[arc->caller])
			of[arc->caller] = ASIDE;
	}
	return of;
}

/* Copies the chosen rows, and sums the samples of those that are kept. */
static int keep_rows(const struct profile *full, struct profile *p,
		     const unsigned char *of, uint32_t *moved)
{
	struct profile_pair *pair = NULL;
	uint64_t *none = arena_calloc(&p->arena, p->nr_classes + 1, sizeof(*none));

	p->rows = arena_calloc(&p->arena, full->nr_rows + 1, sizeof(*p->rows));
	if (!p->rows || !none)
		return -ENOMEM;
	for (size_t i = 0; i < full->nr_rows; i++) {
		struct profile_row *row = &p->rows[p->nr_rows];

		if (of[i] == GONE)
			continue;
		moved[i] = (uint32_t)p->nr_rows++;
		*row = full->rows[i];
		if (of[i] == ASIDE) {
			row->aside = true;
			row->samples = none;
			row->has_children = false;
			row->nr_hits = 0;
			continue;
		}
		if (!pair || pair->app != row->app || pair->image != row->image)
			pair = profile_pair_of(p, row->app, row->image);
		if (pair)
			profile_add_samples(pair->samples, row->samples, p->nr_classes);
		for (size_t c = 0; c < p->nr_classes; c++)
			p->classes[c].total += row->samples[c];
	}
	return 0;
}

/* Copies the arcs from and to rows that are kept. */
static int keep_arcs(const struct profile *full, struct profile *p,
		     const unsigned char *of, const uint32_t *moved)
{
	p->arcs = arena_calloc(&p->arena, full->nr_arcs + 1, sizeof(*p->arcs));
	if (!p->arcs)
		return -ENOMEM;
	for (size_t i = 0; i < full->nr_arcs; i++) {
		const struct profile_arc *arc = &full->arcs[i];

		if (of[arc->caller] == KEPT || of[arc->callee] == KEPT)
			p->arcs[p->nr_arcs++] =
				(struct profile_arc){ .caller = moved[arc->caller],
						      .callee = moved[arc->callee],
						      .samples = arc->samples };
	}
	return 0;
}

static int keep_chosen(const struct profile *full, struct profile *p,
		       bool (*keep)(void *ctx, const struct profile_row *row), void *ctx)
{
	CLEANUP(free_ptr) unsigned char *of = choose_rows(full, keep, ctx);
	CLEANUP(free_ptr) uint32_t *moved = calloc(full->nr_rows + 1, sizeof(*moved));
	int rc = of && moved ? 0 : -ENOMEM;

	rc = rc ? rc : keep_rows(full, p, of, moved);
	return rc ? rc : keep_arcs(full, p, of, moved);
}

static int copy_pairs(const struct profile *full, struct profile *p)
{
	p->classes = arena_calloc(&p->arena, full->nr_classes + 1, sizeof(*p->classes));
	p->pairs = arena_calloc(&p->arena, full->nr_pairs + 1, sizeof(*p->pairs));
	if (!p->classes || !p->pairs)
		return -ENOMEM;
	for (; p->nr_classes < full->nr_classes; p->nr_classes++) {
		p->classes[p->nr_classes] = full->classes[p->nr_classes];
		p->classes[p->nr_classes].total = 0;
	}
	for (; p->nr_pairs < full->nr_pairs; p->nr_pairs++) {
		p->pairs[p->nr_pairs] = full->pairs[p->nr_pairs];
		p->pairs[p->nr_pairs].samples =
			arena_calloc(&p->arena, p->nr_classes + 1, sizeof(uint64_t));
		if (!p->pairs[p->nr_pairs].samples)
			return -ENOMEM;
	}
	return 0;
}

/* Pairs without a kept row are dropped. */
static void drop_empty_pairs(struct profile *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->nr_pairs; i++) {
		uint64_t sum = 0;

		for (size_t c = 0; c < p->nr_classes; c++)
			sum += p->pairs[i].samples[c];
		if (sum)
			p->pairs[kept++] = p->pairs[i];
	}
	p->nr_pairs = kept;
}

int profile_filter(struct profile *full,
		   bool (*keep)(void *ctx, const struct profile_row *row), void *ctx,
		   struct profile **out, struct err *err)
{
	CLEANUP(profile_putp) struct profile *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return err_set(err, -ENOMEM, "out of memory");
	p->refs = 1;
	p->loaded = full->loaded;
	p->merge_lib = full->merge_lib;
	p->merge_kernel = full->merge_kernel;
	p->parent = profile_get(full);
	p->cat = catalog_get(full->cat);
	p->images = full->images;
	p->stacks = full->stacks;
	p->selected = full->selected;
	p->nr_selected = full->nr_selected;
	p->session = full->session;
	p->until = full->until;
	p->axis = full->axis;
	p->arc_files = full->arc_files;
	p->nr_arc_files = full->nr_arc_files;
	p->bad = full->bad;
	p->nr_bad = full->nr_bad;
	rc = copy_pairs(full, p);
	rc = rc ? rc : keep_chosen(full, p, keep, ctx);
	if (rc)
		return err_set(err, rc, "out of memory");
	drop_empty_pairs(p);
	p->bytes = sizeof(*p) + p->arena.total;
	*out = TAKE(p);
	return 0;
}
