/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/profile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "libspec/stats.h"
#include "opfs/profile_build.h"

int profile_no_memory(struct profile_build *b)
{
	err_set(b->err, -ENOMEM, "out of memory while loading a profile");
	return -ENOMEM;
}

int profile_interrupted(struct profile_build *b)
{
	err_set(b->err, -EINTR, "interrupted: nobody waits for this any more");
	return -EINTR;
}

/* ---- classes */

static bool same_class(const struct profile_class *c, const struct spec_name *n)
{
	return c->count == n->count && c->unit_mask == n->unit_mask &&
	       !strcmp(c->event, n->event);
}

/* OProfile's order of columns: unit masks as numbers, events and counts as text. */
static int compare_classes(const void *x, const void *y)
{
	const struct profile_class *a = x, *b = y;
	char count_a[24], count_b[24];
	int order;

	if (a->unit_mask != b->unit_mask)
		return a->unit_mask < b->unit_mask ? -1 : 1;
	order = strcmp(a->event, b->event);
	if (order)
		return order;
	snprintf(count_a, sizeof(count_a), "%" PRIu64, a->count);
	snprintf(count_b, sizeof(count_b), "%" PRIu64, b->count);
	return strcmp(count_a, count_b);
}

/* @hint: where to look first; files of a class come together. */
static uint32_t find_class(const struct profile *p, const struct spec_name *n,
			   uint32_t hint)
{
	if (hint < p->nr_classes && same_class(&p->classes[hint], n))
		return hint;
	for (uint32_t c = 0; c < p->nr_classes; c++)
		if (same_class(&p->classes[c], n))
			return c;
	return UINT32_MAX;
}

static int add_class(struct profile_build *b, const struct catalog_file *f)
{
	struct profile *p = b->p;

	if (p->nr_classes == PROFILE_MAX_CLASSES)
		return err_set(
			b->err, -E2BIG,
			"more than %d events in one table: choose some with event:",
			PROFILE_MAX_CLASSES);
	p->classes[p->nr_classes++] = (struct profile_class){
		.event = f->name.event,
		.count = f->name.count,
		.unit_mask = f->name.unit_mask,
		.header = &f->header,
	};
	return 0;
}

static int make_classes(struct profile_build *b)
{
	struct profile *p = b->p;
	uint32_t hint = 0;

	p->classes = arena_calloc(&p->arena, PROFILE_MAX_CLASSES, sizeof(*p->classes));
	if (!p->classes)
		return profile_no_memory(b);
	for (size_t i = 0; i < b->nr_picks; i++) {
		int rc = 0;

		hint = find_class(p, &b->picks[i].file->name, hint);
		if (hint == UINT32_MAX)
			rc = add_class(b, b->picks[i].file);
		if (rc)
			return rc;
	}
	qsort(p->classes, p->nr_classes, sizeof(*p->classes), compare_classes);
	for (size_t i = 0; i < b->nr_picks; i++) {
		hint = find_class(p, &b->picks[i].file->name, hint);
		b->picks[i].class = hint;
	}
	return 0;
}

/* ---- files, applications and images */

static int compare_picks(const void *x, const void *y)
{
	const struct profile_pick *a = x, *b = y;

	if (a->file->image != b->file->image)
		return a->file->image < b->file->image ? -1 : 1;
	if (a->file->app != b->file->app)
		return a->file->app < b->file->app ? -1 : 1;
	/* The catalog's order: the first file of a class describes it. */
	return a->file < b->file ? -1 : a->file > b->file;
}

static int make_picks(struct profile_build *b, const uint32_t *selected, size_t nr)
{
	struct profile *p = b->p;
	uint32_t *copy;

	copy = arena_calloc(&p->arena, nr + 1, sizeof(*copy));
	b->picks = calloc(nr + 1, sizeof(*b->picks));
	if (!copy || !b->picks)
		return profile_no_memory(b);
	for (size_t i = 0; i < nr; i++) {
		const struct catalog_file *f;

		if (selected[i] >= p->cat->nr_files)
			continue;
		f = &p->cat->files[selected[i]];
		if (f->callee != CATALOG_NO_IMAGE)
			continue;
		copy[b->nr_picks] = selected[i];
		b->picks[b->nr_picks++].file = f;
	}
	p->selected = copy;
	p->nr_selected = b->nr_picks;
	return 0;
}

size_t profile_picks_end(const struct profile_build *b, size_t i, bool same_app)
{
	const struct catalog_file *f = b->picks[i].file;

	while (i < b->nr_picks && b->picks[i].file->image == f->image &&
	       (!same_app || b->picks[i].file->app == f->app))
		i++;
	return i;
}

/* One pair for every run of picks of one image and application, with catalog totals. */
static int make_pairs(struct profile_build *b)
{
	struct profile *p = b->p;

	for (size_t i = 0; i < b->nr_picks; i = profile_picks_end(b, i, true))
		p->nr_pairs++;
	p->pairs = arena_calloc(&p->arena, p->nr_pairs + 1, sizeof(*p->pairs));
	if (!p->pairs)
		return profile_no_memory(b);
	p->nr_pairs = 0;
	for (size_t i = 0, end; i < b->nr_picks; i = end) {
		struct profile_pair *pair = &p->pairs[p->nr_pairs++];

		end = profile_picks_end(b, i, true);
		pair->app = b->picks[i].file->app;
		pair->image = b->picks[i].file->image;
		pair->samples =
			arena_calloc(&p->arena, p->nr_classes, sizeof(*pair->samples));
		if (!pair->samples)
			return profile_no_memory(b);
		p->images[pair->image].used = true;
		for (size_t k = i; k < end; k++)
			pair->samples[b->picks[k].class] += b->picks[k].file->total;
	}
	return 0;
}

/* Pairs and rows have the same order: pairs are summed up anew from rows. */
static void pairs_from_rows(struct profile *p)
{
	size_t row = 0;

	for (size_t i = 0; i < p->nr_pairs; i++) {
		struct profile_pair *pair = &p->pairs[i];

		memset(pair->samples, 0, p->nr_classes * sizeof(*pair->samples));
		for (; row < p->nr_rows && p->rows[row].app == pair->app &&
		       p->rows[row].image == pair->image;
		     row++)
			for (size_t c = 0; c < p->nr_classes; c++)
				pair->samples[c] += p->rows[row].samples[c];
	}
}

static void sum_classes(struct profile *p)
{
	for (size_t i = 0; i < p->nr_pairs; i++)
		for (size_t c = 0; c < p->nr_classes; c++)
			p->classes[c].total += p->pairs[i].samples[c];
}

/* ---- the whole */

static int load_symbols(struct profile_build *b)
{
	struct profile *p = b->p;
	int rc = profile_load_images(b);

	if (!rc)
		rc = profile_count(b);
	if (!rc)
		rc = profile_name_rows(b);
	if (rc)
		return rc;
	p->rows = (void *)arena_memdup(&p->arena, b->rows.data,
				       b->rows.len * sizeof(*p->rows));
	p->bad = (void *)arena_memdup(&p->arena, b->bad.data,
				      b->bad.len * sizeof(*p->bad));
	if (!p->rows || !p->bad)
		return profile_no_memory(b);
	p->nr_rows = b->rows.len;
	p->nr_bad = b->bad.len;
	pairs_from_rows(p);
	return 0;
}

static int name_session(struct profile_build *b)
{
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };
	struct profile *p = b->p;

	for (size_t i = 0; i < p->cat->nr_dirs; i++)
		strbuf_printf(&name, "%s%s", i ? "," : "", p->cat->dirs[i].session);
	p->session = arena_strdup(&p->arena, strbuf_str(&name));
	return strbuf_error(&name) || !p->session ? profile_no_memory(b) : 0;
}

static int load(struct profile_build *b, const uint32_t *selected, size_t nr)
{
	struct profile *p = b->p;
	int rc = name_session(b);

	if (rc)
		return rc;
	p->images = arena_calloc(&p->arena, p->cat->nr_images + 1, sizeof(*p->images));
	if (!p->images)
		return profile_no_memory(b);
	rc = make_picks(b, selected, nr);
	if (!rc)
		rc = make_classes(b);
	if (rc)
		return rc;
	qsort(b->picks, b->nr_picks, sizeof(*b->picks), compare_picks);
	rc = make_pairs(b);
	if (!rc && (p->loaded & PROFILE_SYMBOLS))
		rc = load_symbols(b);
	if (rc)
		return rc;
	sum_classes(p);
	p->bytes = sizeof(*p) + p->arena.total;
	return viewer_gone(b->v) ? profile_interrupted(b) : 0;
}

int profile_load(struct catalog *cat, const uint32_t *selected, size_t nr, unsigned needs,
		 struct sym_cache *syms, const struct viewer *v, struct profile **out,
		 struct err *err)
{
	struct profile_build b = { .syms = syms, .v = v, .err = err };
	int rc;

	b.p = calloc(1, sizeof(*b.p));
	if (!b.p)
		return profile_no_memory(&b);
	b.p->refs = 1;
	b.p->cat = catalog_get(cat);
	b.p->loaded = needs;
	rc = load(&b, selected, nr);
	free(b.picks);
	vec_fini(&b.rows);
	vec_fini(&b.bad);
	if (rc)
		profile_put(b.p);
	else
		*out = b.p;
	return rc;
}

struct profile *profile_get(struct profile *p)
{
	__atomic_add_fetch(&p->refs, 1, __ATOMIC_RELAXED);
	return p;
}

void profile_put(struct profile *p)
{
	if (!p || __atomic_sub_fetch(&p->refs, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	if (p->parent) {
		profile_put(p->parent);
	} else {
		for (size_t i = 0; p->images && i < p->cat->nr_images; i++)
			sym_table_put(p->images[i].table);
		free(p->names);
	}
	catalog_put(p->cat);
	arena_fini(&p->arena);
	free(p);
}
