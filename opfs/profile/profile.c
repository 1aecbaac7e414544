/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/profile/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cache.h"
#include "base/cleanup.h"
#include "base/until.h"
#include "libspec/session/stats.h"
#include "opfs/profile/arcs.h"
#include "opfs/profile/build.h"
#include "opfs/profile/find.h"
#include "opfs/profile/funcs.h"
#include "opfs/profile/images.h"
#include "opfs/profile/jit.h"
#include "opfs/profile/join.h"
#include "opfs/profile/lines.h"
#include "opfs/profile/regions.h"
#include "opfs/profile/stacks.h"
#include "opfs/profile/symbols.h"

enum { BETTER_S = 30 };

/* Bytes that a small profile's profile_made() may take, however small it is. */
#define MADE_AT_LEAST (8u << 20)

/* ---- classes */

/* The first file of a class describes it. */
static uint32_t join_class(struct profile *p, uint32_t class,
			   const struct catalog_file *f)
{
	if (!p->classes[class].header)
		p->classes[class].header = &f->header;
	return class;
}

static int copy_classes(struct profile_build *b, const struct spec_classes *from)
{
	struct profile *p = b->p;

	p->classes = arena_calloc(&p->arena, from->nr + 1, sizeof(*p->classes));
	if (!p->classes)
		return profile_no_memory(b);
	for (size_t c = 0; c < from->nr; c++) {
		const struct spec_class *of = &from->classes[c];

		p->classes[c] = (struct profile_class){ .event = of->event,
							.count = of->count,
							.unit_mask = of->unit_mask,
							.tgid = of->tgid,
							.tid = of->tid,
							.cpu = of->cpu };
	}
	p->nr_classes = from->nr;
	p->axis = from->axis;
	for (size_t i = 0; i < b->nr_picks; i++)
		b->picks[i].class = join_class(p, from->of_name[i], b->picks[i].file);
	for (size_t i = 0; i < p->nr_arc_files; i++)
		b->arc_files[i].class = join_class(p, from->of_name[b->nr_picks + i],
						   b->arc_files[i].file);
	return 0;
}

static int make_classes(struct profile_build *b)
{
	CLEANUP(free_ptr) const struct spec_name **names = NULL;
	size_t nr = b->nr_picks + b->p->nr_arc_files;
	struct spec_classes classes;
	int rc;

	names = calloc(nr + 1, sizeof(*names));
	if (!names)
		return profile_no_memory(b);
	for (size_t i = 0; i < b->nr_picks; i++)
		names[i] = &b->picks[i].file->name;
	for (size_t i = b->nr_picks; i < nr; i++)
		names[i] = &b->arc_files[i - b->nr_picks].file->name;
	rc = spec_classes_init(&classes, names, nr, &b->q->classes, PROFILE_MAX_CLASSES,
			       b->err);
	if (rc)
		return rc;
	rc = copy_classes(b, &classes);
	spec_classes_fini(&classes);
	return rc;
}

/* ---- files, applications and images */

static int compare_picks(const void *x, const void *y)
{
	const struct profile_pick *a = x, *b = y;

	if (a->file->image != b->file->image)
		return a->file->image < b->file->image ? -1 : 1;
	if (a->app != b->app)
		return a->app < b->app ? -1 : 1;
	/* The catalog's order: the first file of a class describes it. */
	return a->file < b->file ? -1 : a->file > b->file;
}

static void pick_file(struct profile_build *b, const struct catalog_file *f)
{
	b->picks[b->nr_picks++] =
		(struct profile_pick){ .file = f,
				       .app = profile_app_of(b, f->app, f->image) };
}

static void pick_arcs(struct profile_build *b, const struct catalog_file *f)
{
	b->arc_files[b->p->nr_arc_files++] = (struct profile_arc_file){
		.file = f, .caller = f->image, .callee = f->callee
	};
}

/* Files of arcs count only if arcs are wanted. */
static int make_picks(struct profile_build *b, const uint32_t *selected, size_t nr)
{
	bool arcs = profile_has_arcs(b->p->loaded);
	struct profile *p = b->p;
	uint32_t *copy;

	copy = arena_calloc(&p->arena, nr + 1, sizeof(*copy));
	b->picks = calloc(nr + 1, sizeof(*b->picks));
	b->arc_files =
		arena_calloc(&p->arena, (arcs ? nr : 0) + 1, sizeof(*b->arc_files));
	if (!copy || !b->picks || !b->arc_files)
		return profile_no_memory(b);
	p->arc_files = b->arc_files;
	for (size_t i = 0; i < nr; i++) {
		const struct catalog_file *f;

		if (selected[i] >= p->cat->nr_files)
			continue;
		f = &p->cat->files[selected[i]];
		if (f->callee == CATALOG_NO_IMAGE) {
			copy[b->nr_picks] = selected[i];
			pick_file(b, f);
		} else if (arcs) {
			/* the catalog has them behind the flat ones */
			copy[b->nr_picks + p->nr_arc_files] = selected[i];
			pick_arcs(b, f);
		}
	}
	p->selected = copy;
	p->nr_selected = b->nr_picks;
	return 0;
}

/*
 * One pair for every run of picks of one image and application, with the catalog's
 * totals.
 */
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
		pair->app = b->picks[i].app;
		pair->image = b->picks[i].file->image;
		pair->samples =
			arena_calloc(&p->arena, p->nr_classes, sizeof(*pair->samples));
		if (!pair->samples)
			return profile_no_memory(b);
		for (size_t k = i; k < end; k++)
			pair->samples[b->picks[k].class] += b->picks[k].file->total;
	}
	return 0;
}

/*
 * Pairs and rows are in the same order: the figures of pairs are summed anew from rows.
 */
static void pairs_from_rows(struct profile_build *b)
{
	const struct profile_row *rows = b->rows.data;
	struct profile *p = b->p;
	size_t row = 0;

	for (size_t i = 0; i < p->nr_pairs; i++) {
		struct profile_pair *pair = &p->pairs[i];

		memset(pair->samples, 0, p->nr_classes * sizeof(*pair->samples));
		for (; row < b->rows.len && rows[row].app == pair->app &&
		       rows[row].image == pair->image;
		     row++)
			for (size_t c = 0; c < p->nr_classes; c++)
				pair->samples[c] += rows[row].samples[c];
	}
}

static void sum_classes(struct profile *p)
{
	for (size_t i = 0; i < p->nr_pairs; i++)
		for (size_t c = 0; c < p->nr_classes; c++)
			p->classes[c].total += p->pairs[i].samples[c];
}

/* ---- the whole */

/* Where memory really was, for those who may know.  False if nowhere else. */
static bool find_region(const struct profile_build *b, const struct catalog_image *img,
			struct spec_image *name)
{
	const struct catalog *of = b->q->cat;
	bool found = false;

	*name = img->name;
	for (size_t i = 0; img->label && i < of->nr_dirs && !found; i++)
		found = spec_regions_find(&of->dirs[i].regions, img->shown,
					  viewer_cred(b->q->reader), name);
	return found;
}

/* Memory without a file may be shown as something else here. */
static bool has_memory(const struct catalog *cat)
{
	for (size_t i = 0; i < cat->nr_images; i++)
		if (cat->images[i].label)
			return true;
	return false;
}

/* Shows memory where it really was. */
static int show_regions(struct profile_build *b, struct catalog *c)
{
	for (size_t i = 0; i < c->nr_images; i++) {
		CLEANUP(strbuf_fini) struct strbuf shown = { 0 };
		struct catalog_image *img = &c->images[i];
		struct spec_image name;

		if (!find_region(b, img, &name))
			continue;
		spec_image_show(&name, &shown);
		img->name = name;
		img->shown = arena_strdup(&c->arena, strbuf_str(&shown));
		img->base = img->shown;
		if (strbuf_error(&shown) || !img->shown)
			return profile_no_memory(b);
	}
	return 0;
}

/* Kernel images need no application of their own in the session to be shown in one. */
static int take_catalog(struct profile_build *b)
{
	static char shown[] = "[" SPEC_MATCH_KERNEL "]";
	struct catalog *of = b->q->cat, *c;

	if (!b->q->merge_kernel && !has_memory(of)) {
		b->p->cat = catalog_get(of);
		return 0;
	}
	c = b->p->cat = catalog_borrow(of, of->nr_images + 1);
	if (!c)
		return profile_no_memory(b);
	memcpy(c->images, of->images, of->nr_images * sizeof(*c->images));
	c->nr_images = of->nr_images;
	if (show_regions(b, c))
		return -ENOMEM;
	if (!b->q->merge_kernel)
		return 0;
	b->kernel_app = (uint32_t)of->nr_images;
	c->images[b->kernel_app] = (struct catalog_image){ .name.kind = SPEC_IMAGE_NONE,
							   .name.name = shown,
							   .shown = shown,
							   .base = shown,
							   .kernel = true };
	c->nr_images = of->nr_images + 1;
	return 0;
}

/* Moves what was built to its final place. */
static int keep_lists(struct profile_build *b)
{
	struct profile *p = b->p;

	if (!b->rows.len && vec_reserve(&b->rows, 1))
		return profile_no_memory(b);
	/* what is behind the last row was never touched, and costs nothing */
	p->own_rows = p->rows = TAKE(b->rows.data);
	p->nr_rows = b->rows.len;
	p->arcs = (void *)arena_memdup(&p->arena, b->arcs.data,
				       b->arcs.len * sizeof(*p->arcs));
	p->bad = (void *)arena_memdup(&p->arena, b->bad.data,
				      b->bad.len * sizeof(*p->bad));
	if (!p->arcs || !p->bad)
		return profile_no_memory(b);
	p->nr_arcs = b->arcs.len;
	p->nr_bad = b->bad.len;
	return 0;
}

/* Pairs without a sample: those of a slice that has none of theirs. */
static void drop_empty_pairs(struct profile *p)
{
	size_t nr = 0;

	for (size_t i = 0; i < p->nr_pairs; i++)
		if (profile_any_sample(p->pairs[i].samples, p->nr_classes))
			p->pairs[nr++] = p->pairs[i];
	p->nr_pairs = nr;
}

static int load_symbols(struct profile_build *b)
{
	bool sliced = b->first_stack;
	int rc = sliced ? 0 : profile_load_images(b);

	if (!rc && !sliced)
		rc = profile_find_funcs(b);
	if (!rc)
		rc = profile_count(b);
	if (!rc)
		pairs_from_rows(b);
	if (!rc && sliced)
		drop_empty_pairs(b->p);
	if (!rc && profile_has_arcs(b->p->loaded))
		rc = profile_read_arcs(b);
	if (!rc)
		rc = profile_name_rows(b);
	if (!rc)
		rc = profile_join_jit(b);
	return rc ? rc : keep_lists(b);
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

/* Rows, and what is summed from them. */
static int count(struct profile_build *b)
{
	struct profile *p = b->p;
	int rc = profile_has_symbols(p->loaded) ? load_symbols(b) : 0;

	if (rc)
		return rc;
	sum_classes(p);
	p->bytes = sizeof(*p) + p->arena.total + p->nr_rows * sizeof(*p->rows);
	if (p->cat != b->q->cat)
		p->bytes += p->cat->arena.total;
	if ((p->loaded & PROFILE_HITS) == PROFILE_HITS) {
		p->made = cache_new(2 * p->bytes + MADE_AT_LEAST);
		if (!p->made)
			return profile_no_memory(b);
	}
	return viewer_gone(b->v) ? profile_interrupted(b) : 0;
}

static int load(struct profile_build *b)
{
	struct profile *p = b->p;
	int rc = name_session(b);

	if (rc)
		return rc;
	p->images = arena_calloc(&p->arena, p->cat->nr_images + 1, sizeof(*p->images));
	if (!p->images)
		return profile_no_memory(b);
	rc = make_picks(b, b->q->selected, b->q->nr_selected);
	if (!rc)
		rc = make_classes(b);
	if (rc)
		return rc;
	for (size_t i = 0; i < b->nr_picks; i++)
		p->images[b->picks[i].file->image].used = true;
	profile_join_anonymous(b);
	if (profile_has_stacks(p->loaded))
		rc = profile_read_stacks(b);
	if (!rc && p->loaded & PROFILE_IMAGES)
		rc = profile_load_jit(b);
	if (!rc)
		rc = profile_join_regions(b);
	if (rc)
		return rc;
	qsort(b->picks, b->nr_picks, sizeof(*b->picks), compare_picks);
	rc = make_pairs(b);
	return rc ? rc : count(b);
}

static bool may_become_better(const struct profile_image *img)
{
	if (!img->used || !img->has_job || img->job.kind == SYM_VDSO)
		return false;
	if (img->table && img->state != SYM_NO_SYMBOLS)
		return img->table->source == SYM_FROM_DYNSYM ||
		       img->table->source == SYM_FROM_MINIDEBUG;
	return img->state == SYM_MISSING || img->state == SYM_UNREADABLE ||
	       img->state == SYM_NO_SYMBOLS || img->state == SYM_CHANGED;
}

static int64_t find_until(const struct profile *p)
{
	for (size_t i = 0; p->images && i < p->cat->nr_images; i++)
		if (may_become_better(&p->images[i]))
			return until_in(BETTER_S);
	return 0;
}

/* Frees what only loading needs; @rc: how that ended. */
static int finish(struct profile_build *b, int rc, struct profile **out)
{
	free(b->picks);
	vec_fini(&b->rows);
	vec_fini(&b->arcs);
	profile_where_fini(&b->where);
	vec_fini(&b->bad);
	if (rc)
		profile_put(b->p);
	else
		*out = b->p;
	return rc;
}

int profile_load(const struct profile_query *q, struct profile **out, struct err *err)
{
	struct profile_build b = { .q = q, .syms = q->syms, .v = q->viewer, .err = err };
	int rc;

	b.p = calloc(1, sizeof(*b.p));
	if (!b.p)
		return profile_no_memory(&b);
	b.p->refs = 1;
	b.p->loaded = q->needs;
	b.p->merge_lib = q->merge_lib;
	b.p->merge_kernel = q->merge_kernel;
	rc = take_catalog(&b);
	rc = rc ? rc : load(&b);
	if (!rc && q->needs != PROFILE_PAIRS)
		b.p->until = find_until(b.p);
	return finish(&b, rc, out);
}

/* The files, and how they are shown, are those of the whole. */
static int load_slice(struct profile_build *b, const struct profile *whole,
		      const uint8_t *keep)
{
	struct profile *p = b->p;
	int rc = 0;

	p->session = whole->session;
	p->images = whole->images;
	p->selected = whole->selected;
	p->nr_selected = whole->nr_selected;
	p->axis = whole->axis;
	p->nr_classes = whole->nr_classes;
	p->classes = (void *)arena_memdup(&p->arena, whole->classes,
					  whole->nr_classes * sizeof(*p->classes));
	b->picks = calloc(whole->nr_selected + 1, sizeof(*b->picks));
	if (!p->classes || !b->picks)
		return profile_no_memory(b);
	for (size_t c = 0; c < p->nr_classes; c++)
		p->classes[c].total = 0;
	for (size_t i = 0; i < whole->stacks->nr_files; i++) {
		const struct profile_stack_file *f = &whole->stacks->files[i];

		b->picks[b->nr_picks++] = (struct profile_pick){ .file = f->file,
								 .app = f->app,
								 .class = f->class };
	}
	qsort(b->picks, b->nr_picks, sizeof(*b->picks), compare_picks);
	rc = make_pairs(b);
	rc = rc ? rc : profile_slice_stacks(b, whole->stacks, keep);
	return rc ? rc : count(b);
}

int profile_slice(struct profile *whole, const uint8_t *keep, unsigned needs,
		  const struct viewer *v, struct profile **out, struct err *err)
{
	struct profile_query q = { .cat = whole->cat,
				   .merge_lib = whole->merge_lib,
				   .merge_kernel = whole->merge_kernel };
	struct profile_build b = { .q = &q, .v = v, .err = err };
	int rc;

	b.p = calloc(1, sizeof(*b.p));
	if (!b.p)
		return profile_no_memory(&b);
	b.p->refs = 1;
	b.p->loaded = needs | PROFILE_STACKS;
	b.p->merge_lib = whole->merge_lib;
	b.p->merge_kernel = whole->merge_kernel;
	b.kernel_app = (uint32_t)whole->cat->nr_images - 1;
	b.p->until = whole->until;
	b.p->whole = profile_get(whole);
	b.p->cat = catalog_get(whole->cat);
	rc = load_slice(&b, whole, keep);
	return finish(&b, rc, out);
}

uint64_t profile_hit_vma(const struct profile *p, const struct profile_row *row,
			 size_t hit)
{
	const struct sym_table *table;
	uint64_t off = row->hits[hit], vma;

	if (row->sym)
		return row->sym->vma + (off - row->sym->off);
	table = p->images[row->image].table;
	return table && sym_vma(table, off, &vma) ? vma : off;
}

struct cache *profile_made(const struct profile *p)
{
	while (p->parent)
		p = p->parent;
	return p->made;
}

struct profile_pair *profile_pair_of(struct profile *p, uint32_t app, uint32_t image)
{
	for (size_t i = 0; i < p->nr_pairs; i++)
		if (p->pairs[i].app == app && p->pairs[i].image == image)
			return &p->pairs[i];
	return NULL;
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
	cache_free(p->made);
	lines_free(p->inlines);
	free(p->own_rows);
	profile_put(p->base);
	if (p->parent || p->whole) {
		profile_put(p->parent);
		profile_put(p->whole);
	} else {
		/* a small part of a large session has few of its images, and of pairs
		 * there are no tables: then the others are not even touched */
		for (size_t i = 0; p->images && p->loaded && i < p->cat->nr_images; i++)
			sym_table_put(p->images[i].table);
		free(p->names);
	}
	catalog_put(p->cat);
	arena_fini(&p->arena);
	free(p);
}

static void *kind_get(void *obj)
{
	return profile_get(obj);
}

static void kind_put(void *obj)
{
	profile_put(obj);
}

static int64_t kind_until(void *obj)
{
	return ((const struct profile *)obj)->until;
}

const struct cache_kind profile_kind = { .get = kind_get,
					 .put = kind_put,
					 .until = kind_until };
