/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "opfs/profile.h"

static void put_profile(struct profile **p)
{
	if (*p)
		profile_put(*p);
}

static void add(uint64_t *to, const uint64_t *from, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		to[i] += from[i];
}

/* The pair of an application and an image, with the samples it has in @p. */
static struct profile_pair *find_pair(struct profile *p, uint32_t app, uint32_t image)
{
	for (size_t i = 0; i < p->nr_pairs; i++)
		if (p->pairs[i].app == app && p->pairs[i].image == image)
			return &p->pairs[i];
	return NULL;
}

/* Takes over the rows that are kept, and what they amount to. */
static int keep_rows(const struct profile *full, struct profile *p,
		     bool (*keep)(void *ctx, const struct profile_row *row), void *ctx)
{
	struct profile_pair *pair = NULL;

	p->rows = arena_calloc(&p->arena, full->nr_rows + 1, sizeof(*p->rows));
	if (!p->rows)
		return -ENOMEM;
	for (size_t i = 0; i < full->nr_rows; i++) {
		const struct profile_row *row = &full->rows[i];

		if (!keep(ctx, row))
			continue;
		p->rows[p->nr_rows++] = *row;
		if (!pair || pair->app != row->app || pair->image != row->image)
			pair = find_pair(p, row->app, row->image);
		if (pair)
			add(pair->samples, row->samples, p->nr_classes);
		for (size_t c = 0; c < p->nr_classes; c++)
			p->classes[c].total += row->samples[c];
	}
	return 0;
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

/* Pairs that nothing was kept of are not there. */
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
	CLEANUP(put_profile) struct profile *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return err_set(err, -ENOMEM, "out of memory");
	p->refs = 1;
	p->loaded = full->loaded;
	p->parent = profile_get(full);
	p->cat = catalog_get(full->cat);
	p->images = full->images;
	p->selected = full->selected;
	p->nr_selected = full->nr_selected;
	p->session = full->session;
	p->bad = full->bad;
	p->nr_bad = full->nr_bad;
	p->bad = full->bad;
	p->nr_bad = full->nr_bad;
	rc = copy_pairs(full, p);
	rc = rc ? rc : keep_rows(full, p, keep, ctx);
	if (rc)
		return err_set(err, rc, "out of memory");
	drop_empty_pairs(p);
	p->bytes = sizeof(*p) + p->arena.total;
	*out = TAKE(p);
	return 0;
}
