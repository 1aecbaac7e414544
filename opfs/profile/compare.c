/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/profile/compare.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/until.h"
#include "opfs/profile/pairing.h"
#include "opfs/profile/twins.h"

/* Compares two profiles: tag diff:. */

struct compare {
	struct profile *now, *was, *out;
	struct profile_pairing images;
	struct err *err;
};

static int no_memory(struct compare *c)
{
	return err_set(c->err, -ENOMEM, "out of memory while comparing profiles");
}

/* ---- classes */

static void describe_class(const struct profile_class *c, struct strbuf *out)
{
	strbuf_printf(out, "%.60s:%" PRIu64, c->event, c->count);
	if (c->unit_mask)
		strbuf_printf(out, ":0x%" PRIx64, c->unit_mask);
	if (c->cpu != SPEC_ALL)
		strbuf_printf(out, " on CPU %" PRId64, c->cpu);
}

static int unlike(struct compare *c, const struct profile_class *a,
		  const struct profile_class *b)
{
	CLEANUP(strbuf_fini) struct strbuf now = { 0 }, was = { 0 };

	describe_class(a, &now);
	describe_class(b, &was);
	return err_set(c->err, -EINVAL,
		       "the two sides count different things: %s and %s: choose the same "
		       "with event:, count:, unitmask: or cpu:",
		       strbuf_str(&now), strbuf_str(&was));
}

static int check_classes(struct compare *c)
{
	const struct profile *a = c->now, *b = c->was;

	if (!a->nr_classes || !b->nr_classes) /* nothing was sampled there */
		return 0;
	if (a->nr_classes != b->nr_classes || (a->nr_classes > 1 && a->axis != b->axis))
		return err_set(c->err, -EINVAL,
			       "the two sides have %zu and %zu columns: choose the same "
			       "with event:, cpu:, tgid: or tid:",
			       a->nr_classes, b->nr_classes);
	for (size_t i = 0; i < a->nr_classes; i++) {
		const struct profile_class *x = &a->classes[i], *y = &b->classes[i];

		if (strcmp(x->event, y->event) != 0 || x->count != y->count ||
		    x->unit_mask != y->unit_mask || x->cpu != y->cpu)
			return unlike(c, x, y);
	}
	return 0;
}

/* ---- whose the kernel's samples are */

/* How sample files of the kernel are filed. */
struct filing {
	bool by_program, by_itself;
};

static void note_filing(const struct catalog *cat, size_t file, struct filing *f)
{
	const struct catalog_file *of = &cat->files[file];

	if (!cat->images[of->image].kernel)
		return;
	if (cat->images[of->app].kernel)
		f->by_itself = true; /* kernel threads are, however programs are filed */
	else
		f->by_program = true;
}

/* @all: of the sessions; @some: of what is selected of them. */
static void ask_filing(const struct profile *p, struct filing *all, struct filing *some)
{
	for (size_t i = 0; i < p->cat->nr_flat; i++)
		note_filing(p->cat, i, all);
	for (size_t i = 0; i < p->nr_selected; i++)
		note_filing(p->cat, p->selected[i], some);
}

static bool any_filing(const struct filing *f)
{
	return f->by_program || f->by_itself;
}

static bool joins_kernel(const struct profile *p)
{
	return p->merge_lib || p->merge_kernel;
}

/*
 * Where one side files the kernel under programs and the other one by itself, they agree
 * only on all of it: then what was selected of each holds its way of filing.
 */
static int check_filing(struct compare *c)
{
	struct filing now = { 0 }, was = { 0 }, of_now = { 0 }, of_was = { 0 };
	bool whole;

	ask_filing(c->now, &now, &of_now);
	ask_filing(c->was, &was, &of_was);
	if (!any_filing(&now) || !any_filing(&was) || now.by_program == was.by_program ||
	    (!any_filing(&of_now) && !any_filing(&of_was)))
		return 0;
	whole = now.by_program ? of_now.by_program && of_was.by_itself
			       : of_now.by_itself && of_was.by_program;
	if (whole && joins_kernel(c->now) && joins_kernel(c->was))
		return 0;
	return err_set(c->err, -EINVAL,
		       "the %s side files what programs cause in the kernel under the "
		       "programs (--separate=kernel), the other one files the kernel by "
		       "itself: compare all programs with merge:kernel, or leave the "
		       "kernel out with lib-image-exclude:kernel",
		       now.by_program ? "newer" : "older");
}

static int copy_classes(struct compare *c)
{
	const struct profile *like = c->now->nr_classes ? c->now : c->was;
	struct profile *p = c->out;

	p->nr_classes = like->nr_classes;
	p->axis = like->axis;
	p->classes = arena_calloc(&p->arena, p->nr_classes + 1, sizeof(*p->classes));
	if (!p->classes)
		return no_memory(c);
	for (size_t i = 0; i < p->nr_classes; i++) {
		p->classes[i] = like->classes[i];
		p->classes[i].total = c->now->nr_classes ? c->now->classes[i].total : 0;
		p->classes[i].was_total =
			c->was->nr_classes ? c->was->classes[i].total : 0;
	}
	return 0;
}

/* ---- rows */

struct side { /* a row, and its image in out->cat */
	const struct profile_row *row;
	uint64_t *samples;
	uint32_t app, image;
	bool whole; /* stands for all of its image */
	struct profile_twin self;
};

struct sides {
	struct side *data;
	size_t nr;
};

static void sides_fini(struct sides *s)
{
	free(s->data);
}

static enum profile_row_kind kind_of(const struct side *s)
{
	return s->whole ? PROFILE_ROW_IMAGE : s->row->kind;
}

/* Rows that may be paired; one image has one row of each kind that is no symbol. */
static int compare_key(const struct side *a, const struct side *b)
{
	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	if (a->app != b->app)
		return a->app < b->app ? -1 : 1;
	if (kind_of(a) != kind_of(b))
		return kind_of(a) < kind_of(b) ? -1 : 1;
	return kind_of(a) == PROFILE_ROW_SYMBOL ? profile_twin_compare(&a->self, &b->self)
						: 0;
}

static int compare_ranks(const struct side *a, const struct side *b)
{
	if (kind_of(a) != PROFILE_ROW_SYMBOL)
		return 0;
	return (a->self.rank > b->self.rank) - (a->self.rank < b->self.rank);
}

static int compare_sides(const void *x, const void *y)
{
	int order = compare_key(x, y);

	return order ? order : compare_ranks(x, y);
}

/* Rows of one function in a merged image become one row. */
static int merge_sides(struct compare *c, struct sides *s)
{
	size_t nr = c->out->nr_classes, n = 0;

	for (size_t i = 0; i < s->nr; i++) {
		struct side *last = n ? &s->data[n - 1] : NULL;

		if (!last || !c->images.merged[s->data[i].image] ||
		    compare_sides(last, &s->data[i]) != 0) {
			s->data[n++] = s->data[i];
			continue;
		}
		if (last->samples == last->row->samples) {
			last->samples =
				arena_calloc(&c->out->arena, nr, sizeof(uint64_t));
			if (!last->samples)
				return no_memory(c);
			memcpy(last->samples, last->row->samples, nr * sizeof(uint64_t));
		}
		for (size_t k = 0; k < nr; k++)
			last->samples[k] += s->data[i].samples[k];
	}
	s->nr = n;
	return 0;
}

static int sides_of(struct compare *c, const struct profile *p, const uint32_t *image_of,
		    struct sides *out)
{
	CLEANUP(free_ptr) struct profile_twin *twins = NULL;

	if (profile_twins(p, &twins))
		return no_memory(c);
	out->data = calloc(p->nr_rows + 1, sizeof(*out->data));
	if (!out->data)
		return no_memory(c);
	for (size_t i = 0; i < p->nr_rows; i++) {
		const struct profile_row *r = &p->rows[i];

		if (profile_any_sample(r->samples, p->nr_classes))
			out->data[out->nr++] = (struct side){
				.row = r,
				.samples = r->samples,
				.app = image_of[r->app],
				.image = image_of[r->image],
				.whole = c->out->images[image_of[r->image]].whole,
				.self = twins[i],
			};
	}
	qsort(out->data, out->nr, sizeof(*out->data), compare_sides);
	return merge_sides(c, out);
}

/* A row that is only on the older side shows its samples there. */
static void add_row(struct profile *p, const struct side *now, const struct side *was)
{
	const struct side *shown = now ? now : was;
	struct profile_row *row = &p->rows[p->nr_rows++];

	*row = *shown->row;
	row->samples = shown->samples;
	row->app = shown->app;
	row->image = shown->image;
	row->has_children = false;
	row->was = was ? was->samples : NULL;
	row->gone = !now;
	if (shown->whole) {
		row->kind = PROFILE_ROW_IMAGE;
		row->sym = NULL;
		row->in_trees = NULL;
	}
	if (row->kind == PROFILE_ROW_IMAGE)
		row->name = p->cat->images[shown->image].shown;
}

static size_t end_of_key(const struct sides *s, size_t i)
{
	const struct side *first = &s->data[i];

	while (i < s->nr && !compare_key(first, &s->data[i]))
		i++;
	return i;
}

/*
 * Rows [*i, ...) and [*k, ...) of one key: twins are known by their rank if both sides
 * have as many of them, else by their order.
 */
static void join_twins(struct profile *p, const struct sides *now, size_t *i,
		       const struct sides *was, size_t *k)
{
	size_t now_end = end_of_key(now, *i), was_end = end_of_key(was, *k);
	bool ranked = now->data[*i].self.nr == was->data[*k].self.nr;

	while (*i < now_end || *k < was_end) {
		int order = *i == now_end   ? 1
			    : *k == was_end ? -1
			    : ranked ? compare_ranks(&now->data[*i], &was->data[*k])
				     : 0;

		add_row(p, order <= 0 ? &now->data[(*i)++] : NULL,
			order >= 0 ? &was->data[(*k)++] : NULL);
	}
}

static int join_rows(struct compare *c)
{
	CLEANUP(sides_fini) struct sides now = { 0 }, was = { 0 };
	struct profile *p = c->out;
	size_t i = 0, k = 0;
	int rc = sides_of(c, c->now, c->images.now_of, &now);

	rc = rc ? rc : sides_of(c, c->was, c->images.was_of, &was);
	if (rc)
		return rc;
	p->rows = arena_calloc(&p->arena, now.nr + was.nr + 1, sizeof(*p->rows));
	if (!p->rows)
		return no_memory(c);
	while (i < now.nr || k < was.nr) {
		int order = i == now.nr   ? 1
			    : k == was.nr ? -1
					  : compare_key(&now.data[i], &was.data[k]);

		if (!order)
			join_twins(p, &now, &i, &was, &k);
		else
			add_row(p, order < 0 ? &now.data[i++] : NULL,
				order > 0 ? &was.data[k++] : NULL);
	}
	return 0;
}

/* ---- pairs */

/* The pair in out; it is made if there is none yet. */
static struct profile_pair *need_pair(struct profile *p, uint32_t app, uint32_t image)
{
	struct profile_pair *pair = profile_pair_of(p, app, image);
	uint64_t *samples;

	if (pair)
		return pair;
	samples = arena_calloc(&p->arena, p->nr_classes * 2, sizeof(uint64_t));
	if (!samples)
		return NULL;
	pair = &p->pairs[p->nr_pairs++];
	*pair = (struct profile_pair){ .app = app,
				       .image = image,
				       .samples = samples,
				       .was = samples + p->nr_classes,
				       .gone = true };
	return pair;
}

static int add_pairs(struct compare *c, const struct profile *from,
		     const uint32_t *image_of, bool now)
{
	struct profile *p = c->out;

	for (size_t i = 0; i < from->nr_pairs; i++) {
		const struct profile_pair *f = &from->pairs[i];
		struct profile_pair *pair =
			need_pair(p, image_of[f->app], image_of[f->image]);
		uint64_t *to;

		if (!pair)
			return no_memory(c);
		to = now ? pair->samples : pair->samples + p->nr_classes;
		pair->gone = pair->gone && !now;
		for (size_t k = 0; k < p->nr_classes; k++)
			to[k] += f->samples[k];
	}
	return 0;
}

static int join_pairs(struct compare *c)
{
	struct profile *p = c->out;
	size_t max = c->now->nr_pairs + c->was->nr_pairs + 1;
	int rc;

	p->pairs = arena_calloc(&p->arena, max, sizeof(*p->pairs));
	if (!p->pairs)
		return no_memory(c);
	rc = add_pairs(c, c->now, c->images.now_of, true);
	rc = rc ? rc : add_pairs(c, c->was, c->images.was_of, false);
	for (size_t i = 0; i < p->nr_pairs; i++)
		if (p->pairs[i].gone) /* gone: shows what it was */
			memcpy(p->pairs[i].samples, p->pairs[i].was,
			       p->nr_classes * sizeof(uint64_t));
	return rc;
}

/* ---- the whole */

static int join(struct compare *c)
{
	int rc = check_classes(c);

	rc = rc ? rc : check_filing(c);
	rc = rc ? rc : copy_classes(c);
	if (!rc && profile_pair_images(c->now, c->was, c->out, &c->images))
		rc = no_memory(c);
	rc = rc ? rc : join_pairs(c);
	if (!rc && profile_has_symbols(c->out->loaded))
		rc = join_rows(c);
	return rc;
}

int profile_compare(struct profile *now, struct profile *was, struct profile **out,
		    struct err *err)
{
	struct compare c = { .now = now, .was = was, .err = err };
	struct profile *p = calloc(1, sizeof(*p));
	int rc;

	c.out = p;
	if (!p)
		return no_memory(&c);
	p->refs = 1;
	p->loaded = now->loaded & was->loaded & PROFILE_SYMBOLS;
	p->parent = profile_get(now);
	p->base = profile_get(was);
	p->until = until_both(now->until, was->until);
	p->selected = now->selected;
	p->nr_selected = now->nr_selected;
	p->session = now->session;
	p->bad = now->bad;
	p->nr_bad = now->nr_bad;
	rc = join(&c);
	profile_pairing_fini(&c.images);
	if (rc) {
		profile_put(p);
		return rc;
	}
	p->bytes = sizeof(*p) + p->arena.total + p->cat->arena.total;
	*out = p;
	return 0;
}
