/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/view.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/percent.h"
#include "opfs/profile/change.h"

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static bool is_excluded(const struct view_options *o, uint32_t app, uint32_t image)
{
	return o->exclude_dependent && app != image;
}

/* What rows are ordered by, and measured with the threshold. */
static const uint64_t *weight(const struct view *v, const struct profile_row *row)
{
	return v->options.children && row->children ? row->children : row->samples;
}

static int by_samples(const struct view *v, const struct profile_row *a,
		      const struct profile_row *b)
{
	size_t nr = v->p->nr_classes;

	return compare_numbers(profile_sum(weight(v, b), nr),
			       profile_sum(weight(v, a), nr));
}

static int by_image(const struct view *v, const struct profile_row *a,
		    const struct profile_row *b)
{
	return strcmp(view_image_name(v->p, &v->options, a->image),
		      view_image_name(v->p, &v->options, b->image));
}

static int by_app(const struct view *v, const struct profile_row *a,
		  const struct profile_row *b)
{
	return strcmp(view_image_name(v->p, &v->options, a->app),
		      view_image_name(v->p, &v->options, b->app));
}

static int by_symbol(const struct view *v, const struct profile_row *a,
		     const struct profile_row *b)
{
	(void)v;
	return strcmp(a->name, b->name);
}

static int by_vma(const struct view *v, const struct profile_row *a,
		  const struct profile_row *b)
{
	(void)v;
	return compare_numbers(a->vma, b->vma);
}

/* Rows without a file first, then by name of the file, then by line. */
static int compare_places(const struct line_place *a, const struct line_place *b)
{
	int order = strcmp(a->file, b->file);

	return order ? order : compare_numbers(a->line, b->line);
}

const char *view_file_name(const struct view_options *o, const char *file)
{
	return o->long_filenames ? file : basename(file);
}

/* @out->file: the part of the name that is shown, never NULL. */
static void place_of(const struct view *v, const struct profile_row *row,
		     struct line_place *out)
{
	if (lines_of_row(v->options.lines, row, out))
		out->file = view_file_name(&v->options, out->file);
	else
		*out = (struct line_place){ .file = "" };
}

static int by_debug(const struct view *v, const struct profile_row *a,
		    const struct profile_row *b)
{
	struct line_place x, y;

	if (!v->options.lines)
		return 0;
	place_of(v, a, &x);
	place_of(v, b, &y);
	return compare_places(&x, &y);
}

uint64_t view_whole(const struct view *v, size_t class)
{
	const struct profile *p = v->p;

	while (p->parent)
		p = p->parent;
	return p->classes[class].total;
}

double view_share(const struct view *v, const struct profile_row *row, size_t class)
{
	return percent_of(view_now(row, class), v->totals[class]);
}

double view_was_share(const struct view *v, const struct profile_row *row, size_t class)
{
	return percent_of(view_was(row, class), v->was_totals[class]);
}

double view_growth(const struct view *v, const struct profile_row *row, size_t class)
{
	return profile_growth(view_now(row, class), v->totals[class],
			      view_was(row, class), v->was_totals[class]);
}

bool view_sure(const struct view *v, const struct profile_row *row, size_t class)
{
	return profile_significant(view_now(row, class), v->totals[class],
				   view_was(row, class), v->was_totals[class]);
}

/* How much more of all samples the row has. */
static double difference(const struct view *v, const struct profile_row *row)
{
	return view_share(v, row, 0) - view_was_share(v, row, 0);
}

/* A change beyond chance comes before one that may be noise. */
static int by_diff(const struct view *v, const struct profile_row *a,
		   const struct profile_row *b)
{
	double x, y;
	bool sure;

	if (!v->p->base || !v->p->nr_classes)
		return 0;
	sure = view_sure(v, a, 0);
	if (sure != view_sure(v, b, 0))
		return sure ? -1 : 1;
	x = difference(v, a);
	y = difference(v, b);
	return (x < y) - (x > y);
}

static int (*const compare[VIEW_NR_KEYS])(const struct view *v,
					  const struct profile_row *a,
					  const struct profile_row *b) = {
	[VIEW_BY_SAMPLES] = by_samples, [VIEW_BY_IMAGE] = by_image,
	[VIEW_BY_APP] = by_app,         [VIEW_BY_SYMBOL] = by_symbol,
	[VIEW_BY_DEBUG] = by_debug,     [VIEW_BY_VMA] = by_vma,
	[VIEW_BY_DIFF] = by_diff,
};

/*
 * If all keys are equal the images' full names decide, so that there is only one order.
 */
static int compare_from(const struct view *v, size_t first, const struct profile_row *a,
			const struct profile_row *b)
{
	const struct catalog_image *images = v->p->cat->images;
	int order = 0;

	for (size_t i = first; i < VIEW_NR_KEYS && !order; i++)
		order = compare[v->options.sort[i]](v, a, b);
	if (!order)
		order = strcmp(images[a->image].shown, images[b->image].shown);
	if (!order)
		order = strcmp(images[a->app].shown, images[b->app].shown);
	return order ? order : (int)a->kind - (int)b->kind;
}

/*
 * Sorting: the first keys of a row that are numbers or ranks are packed into 128 bits,
 * which nearly always decide; names are compared only if these are equal.
 */
struct packed {
	uint64_t high, low;
	const struct profile_row *row;
};

struct sorter {
	const struct view *v;
	/* of the names of images that rows have; equal names have equal ranks */
	const uint32_t *ranks;
	const uint32_t *debug; /* for every row's place in the source */
	size_t nr_packed;      /* how many keys are in @high and @low */
};

static int compare_names(const void *x, const void *y, void *ctx)
{
	const struct view *v = ctx;

	return strcmp(view_image_name(v->p, &v->options, *(const uint32_t *)x),
		      view_image_name(v->p, &v->options, *(const uint32_t *)y));
}

/* Only the images that rows have: a session may have many more. */
static uint32_t *rank_images(struct view *v)
{
	size_t max = v->p->cat->nr_images + 1, nr = 0;
	CLEANUP(free_ptr) uint32_t *ranks = calloc(max, sizeof(*ranks));
	CLEANUP(free_ptr) uint32_t *order = calloc(max, sizeof(*order));

	if (!ranks || !order)
		return NULL;
	for (size_t i = 0; i < 2 * v->nr_rows; i++) {
		uint32_t image = i % 2 ? v->rows[i / 2]->app : v->rows[i / 2]->image;

		if (!ranks[image]++)
			order[nr++] = image;
	}
	qsort_r(order, nr, sizeof(*order), compare_names, v);
	for (size_t i = 0; i < nr; i++)
		ranks[order[i]] =
			i ? ranks[order[i - 1]] +
					(compare_names(&order[i - 1], &order[i], v) != 0)
			  : 0;
	return TAKE(ranks);
}

/* Places are ranked only if they are compared before names: each lookup is expensive. */
static bool ranks_places(const struct view *v)
{
	const enum view_key *key = v->options.sort;

	while (*key != VIEW_BY_DEBUG && *key != VIEW_BY_SYMBOL)
		key++;
	return v->options.lines && *key == VIEW_BY_DEBUG;
}

struct placed {
	struct line_place at;
	size_t i; /* in v->rows */
};

static int compare_placed(const void *x, const void *y)
{
	const struct placed *a = x, *b = y;

	return compare_places(&a->at, &b->at);
}

static int rank_places(struct view *v, uint32_t *ranks)
{
	CLEANUP(free_ptr) struct placed *all = calloc(v->nr_rows + 1, sizeof(*all));
	uint32_t rank = 0;

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < v->nr_rows; i++) {
		place_of(v, v->rows[i], &all[i].at);
		all[i].i = i;
	}
	qsort(all, v->nr_rows, sizeof(*all), compare_placed);
	for (size_t i = 0; i < v->nr_rows; i++) {
		if (i && compare_placed(&all[i - 1], &all[i]))
			rank++;
		ranks[all[i].i] = rank;
	}
	return 0;
}

/* Bits of the number that a key is mapped to; 0: there is none. */
static const unsigned key_bits[VIEW_NR_KEYS] = {
	[VIEW_BY_SAMPLES] = 64, [VIEW_BY_IMAGE] = 32, [VIEW_BY_APP] = 32,
	[VIEW_BY_DEBUG] = 32,   [VIEW_BY_VMA] = 64,
};

static size_t packed_keys(const struct view *v)
{
	unsigned bits = 0;
	size_t n = 0;

	while (n < VIEW_NR_KEYS) {
		unsigned more = key_bits[v->options.sort[n]];

		if (!more || bits % 64 + more > 64 || bits + more > 128)
			break;
		bits += more;
		n++;
	}
	return n;
}

static uint64_t key_number(const struct sorter *s, enum view_key key, size_t i)
{
	const struct profile_row *row = s->v->rows[i];

	switch (key) {
	case VIEW_BY_SAMPLES:
		return ~profile_sum(weight(s->v, row), s->v->p->nr_classes);
	case VIEW_BY_IMAGE:
		return s->ranks[row->image];
	case VIEW_BY_APP:
		return s->ranks[row->app];
	case VIEW_BY_DEBUG:
		return s->debug[i];
	default:
		return row->vma;
	}
}

static struct packed pack_row(const struct sorter *s, size_t i)
{
	struct packed out = { .row = s->v->rows[i] };
	unsigned used = 0;

	for (size_t k = 0; k < s->nr_packed; k++) {
		enum view_key key = s->v->options.sort[k];
		uint64_t *word = used < 64 ? &out.high : &out.low;

		used += key_bits[key];
		*word |= key_number(s, key, i) << (64 - (used - 1) % 64 - 1);
	}
	return out;
}

static int compare_packed(const void *x, const void *y, void *ctx)
{
	const struct packed *a = x, *b = y;
	const struct sorter *s = ctx;
	int order = compare_numbers(a->high, b->high);

	if (!order)
		order = compare_numbers(a->low, b->low);
	if (!order)
		order = compare_from(s->v, s->nr_packed, a->row, b->row);
	return s->v->options.reverse ? -order : order;
}

/* Sorts v->rows as v->options say, all keys of which are set.  0 or -ENOMEM. */
static int sort_rows(struct view *v)
{
	CLEANUP(free_ptr) uint32_t *ranks = rank_images(v);
	CLEANUP(free_ptr) struct packed *rows = calloc(v->nr_rows + 1, sizeof(*rows));
	CLEANUP(free_ptr) uint32_t *debug = calloc(v->nr_rows + 1, sizeof(*debug));
	struct sorter s = {
		.v = v, .ranks = ranks, .debug = debug, .nr_packed = packed_keys(v)
	};

	if (!ranks || !rows || !debug || (ranks_places(v) && rank_places(v, debug)))
		return -ENOMEM;
	for (size_t i = 0; i < v->nr_rows; i++)
		rows[i] = pack_row(&s, i);
	qsort_r(rows, v->nr_rows, sizeof(*rows), compare_packed, &s);
	for (size_t i = 0; i < v->nr_rows; i++)
		v->rows[i] = rows[i].row;
	return 0;
}

static int compare_counts(const struct view_apps *v, const uint64_t *a, const uint64_t *b,
			  uint32_t image_a, uint32_t image_b)
{
	const struct catalog_image *images = v->p->cat->images;
	size_t nr = v->p->nr_classes;
	int order = compare_numbers(profile_sum(b, nr), profile_sum(a, nr));

	if (!order)
		order = strcmp(images[image_a].shown, images[image_b].shown);
	return v->options.reverse ? -order : order;
}

static int compare_apps(const void *x, const void *y, void *ctx)
{
	const struct view_app *a = x, *b = y;

	return compare_counts(ctx, a->samples, b->samples, a->app, b->app);
}

static int compare_images(const void *x, const void *y, void *ctx)
{
	const struct profile_pair *a = *(const struct profile_pair *const *)x;
	const struct profile_pair *b = *(const struct profile_pair *const *)y;

	return compare_counts(ctx, a->samples, b->samples, a->image, b->image);
}

static int by_pair_app(const void *x, const void *y)
{
	const struct profile_pair *a = *(const struct profile_pair *const *)x;
	const struct profile_pair *b = *(const struct profile_pair *const *)y;

	return compare_numbers(a->app, b->app);
}

static int begin_app(struct view_apps *v, struct view_app *app,
		     const struct profile_pair **first)
{
	size_t nr_classes = v->p->nr_classes;

	app->app = first[0]->app;
	app->images = first;
	app->gone = true;
	app->samples = arena_calloc(&v->arena, nr_classes, sizeof(uint64_t));
	app->was =
		v->p->base ? arena_calloc(&v->arena, nr_classes, sizeof(uint64_t)) : NULL;
	return app->samples && (app->was || !v->p->base) ? 0 : -ENOMEM;
}

/* A gone row shows what it was, unless others of the application are still there. */
static void add_pair(struct view_apps *v, struct view_app *app,
		     const struct profile_pair *pair)
{
	size_t nr_classes = v->p->nr_classes;

	if (pair->was && app->was) {
		view_add_samples(app->was, pair->was, nr_classes);
		view_add_samples(v->was_totals, pair->was, nr_classes);
	}
	app->nr_images++;
	if (pair->gone)
		return;
	app->gone = false;
	view_add_samples(app->samples, pair->samples, nr_classes);
	view_add_samples(v->totals, pair->samples, nr_classes);
}

/* @pairs are grouped by application; each group becomes an element of v->apps. */
static int group(struct view_apps *v, const struct profile_pair **pairs, size_t nr)
{
	struct view_app *app = NULL;

	for (size_t i = 0; i < nr; i++) {
		if (!app || app->app != pairs[i]->app) {
			app = &v->apps[v->nr_apps++];
			if (begin_app(v, app, &pairs[i]))
				return -ENOMEM;
		}
		add_pair(v, app, pairs[i]);
	}
	for (size_t i = 0; i < v->nr_apps; i++)
		if (v->apps[i].gone)
			v->apps[i].samples = v->apps[i].was;
	return 0;
}

static void threshold_apps(struct view_apps *v)
{
	size_t n = 0;

	for (size_t i = 0; i < v->nr_apps; i++)
		if (percent_reached(v->apps[i].samples, v->totals, v->p->nr_classes,
				    v->options.threshold))
			v->apps[n++] = v->apps[i];
	v->nr_apps = n;
}

static int fill_apps(struct view_apps *v)
{
	const struct profile *p = v->p;
	const struct profile_pair **pairs;
	size_t n = 0;
	int rc;

	pairs = arena_calloc(&v->arena, p->nr_pairs + 1, sizeof(*pairs));
	v->apps = arena_calloc(&v->arena, p->nr_pairs + 1, sizeof(*v->apps));
	v->totals = arena_calloc(&v->arena, p->nr_classes + 1, sizeof(*v->totals));
	v->was_totals =
		arena_calloc(&v->arena, p->nr_classes + 1, sizeof(*v->was_totals));
	if (!pairs || !v->apps || !v->totals || !v->was_totals)
		return -ENOMEM;
	for (size_t i = 0; i < p->nr_pairs; i++)
		if (!is_excluded(&v->options, p->pairs[i].app, p->pairs[i].image) &&
		    profile_any_sample(p->pairs[i].samples, p->nr_classes))
			pairs[n++] = &p->pairs[i];
	qsort(pairs, n, sizeof(*pairs), by_pair_app);
	rc = group(v, pairs, n);
	if (rc)
		return rc;
	for (size_t i = 0; i < v->nr_apps; i++) {
		struct view_app *app = &v->apps[i];

		qsort_r(app->images, app->nr_images, sizeof(*app->images), compare_images,
			v);
		app->alone = app->nr_images == 1 && app->images[0]->image == app->app;
	}
	threshold_apps(v);
	qsort_r(v->apps, v->nr_apps, sizeof(*v->apps), compare_apps, v);
	return 0;
}

int view_apps_init(struct view_apps *v, const struct profile *p,
		   const struct view_options *o)
{
	int rc;

	*v = (struct view_apps){ .p = p, .options = *o };
	rc = fill_apps(v);
	if (rc)
		view_apps_fini(v);
	return rc;
}

void view_apps_fini(struct view_apps *v)
{
	arena_fini(&v->arena);
	*v = (struct view_apps){ 0 };
}

const char *view_image_name(const struct profile *p, const struct view_options *o,
			    uint32_t image)
{
	const struct catalog_image *img = &p->cat->images[image];
	const char *found = p->images[image].found;

	if (found)
		return view_file_name(o, found);
	return o->long_filenames ? img->shown : img->base;
}

void view_place(const struct view_options *o, const struct line_place *at,
		struct strbuf *out)
{
	if (!at || !at->file) {
		strbuf_puts(out, "(no location information)");
		return;
	}
	escape_text(out, view_file_name(o, at->file));
	strbuf_printf(out, ":%" PRIu32, at->line);
}

/* Appends the keys that were not named, so that all keys are compared in turn. */
static void complete_keys(struct view_options *o)
{
	bool named[VIEW_NR_KEYS] = { false };
	size_t n = 0;

	for (size_t i = 0; i < o->nr_sort && i < VIEW_NR_KEYS; i++) {
		enum view_key key = o->sort[i];

		if ((unsigned)key < VIEW_NR_KEYS && !named[key]) {
			named[key] = true;
			o->sort[n++] = key;
		}
	}
	for (int key = 0; key < VIEW_NR_KEYS; key++)
		if (!named[key])
			o->sort[n++] = key;
	o->nr_sort = n;
}

/* In a comparison the change is tested; rows on one side only always pass. */
static bool changed_enough(const struct view *v, const struct profile_row *row)
{
	if (profile_changed(row->samples, row->was, row->gone, 0) != PROFILE_BOTH)
		return true;
	return fabs(view_growth(v, row, 0)) >= v->options.threshold;
}

static bool reaches(const struct view *v, const struct profile_row *row)
{
	if (v->options.threshold <= 0)
		return true;
	if (v->p->base && v->p->nr_classes)
		return changed_enough(v, row);
	for (size_t c = 0; c < v->p->nr_classes; c++)
		if (percent_of(weight(v, row)[c],
			       v->options.children ? view_whole(v, c) : v->totals[c]) >=
		    v->options.threshold)
			return true;
	return false;
}

/* Which columns a row, or an end of an arc, needs. */
static void note_columns(struct view *v, const struct profile_row *row)
{
	v->show_image = v->show_image || row->image != row->app;
	v->wide_vma = v->wide_vma || row->vma > UINT32_MAX;
}

/* With only_called: which rows are at the ends of arcs that are shown.  free() */
static bool *find_called(const struct view *v)
{
	const struct profile *p = v->p;
	bool *called = calloc(p->nr_rows + 1, sizeof(*called));

	for (size_t i = 0; called && v->options.only_called && i < p->nr_arcs; i++) {
		const struct profile_row *from = &p->rows[p->arcs[i].caller];
		const struct profile_row *to = &p->rows[p->arcs[i].callee];

		if (is_excluded(&v->options, from->app, from->image) ||
		    is_excluded(&v->options, to->app, to->image))
			continue;
		called[p->arcs[i].caller] = called[p->arcs[i].callee] = true;
	}
	return called;
}

static void choose_rows(struct view *v, const bool *called)
{
	const struct profile *p = v->p;
	size_t n = 0;

	for (size_t i = 0; i < p->nr_rows; i++) {
		const struct profile_row *row = &p->rows[i];

		if (is_excluded(&v->options, row->app, row->image))
			continue;
		if (called[i])
			note_columns(v, row);
		else if (!profile_any_sample(weight(v, row), p->nr_classes))
			continue;
		if (row->aside)
			continue;
		if (!row->gone)
			view_add_samples(v->totals, row->samples, p->nr_classes);
		if (row->was)
			view_add_samples(v->was_totals, row->was, p->nr_classes);
		v->rows[n++] = row;
	}
	for (size_t i = 0; i < n; i++) {
		const struct profile_row *row = v->rows[i];

		if (!reaches(v, row))
			continue;
		note_columns(v, row);
		v->rows[v->nr_rows++] = row;
	}
}

/* Applications are counted for every class on its own. */
static bool several_apps(const struct view *v, const struct profile *p)
{
	for (size_t c = 0; c < p->nr_classes; c++) {
		uint32_t first = CATALOG_NO_IMAGE;

		for (size_t i = 0; i < p->nr_pairs; i++) {
			const struct profile_pair *pair = &p->pairs[i];

			if (!pair->samples[c] ||
			    is_excluded(&v->options, pair->app, pair->image))
				continue;
			if (first != CATALOG_NO_IMAGE && first != pair->app)
				return true;
			first = pair->app;
		}
	}
	return false;
}

/* Where what is shown is of several applications; also if each has classes of its own,
 * but that a filter made the profile. */
static bool shows_apps(const struct view *v)
{
	const struct profile *all = v->p;
	bool differ = false;

	for (size_t i = 1; i < v->nr_rows && !differ; i++)
		differ = v->rows[i]->app != v->rows[0]->app;
	while (all->parent && differ)
		all = all->parent;
	return differ && (several_apps(v, v->p) || several_apps(v, all));
}

int view_init(struct view *v, const struct profile *p, const struct view_options *o)
{
	CLEANUP(free_ptr) bool *called = NULL;

	*v = (struct view){ .p = p, .options = *o };
	complete_keys(&v->options);
	called = find_called(v);
	v->rows = calloc(p->nr_rows + 1, sizeof(*v->rows));
	v->totals = calloc(p->nr_classes + 1, sizeof(*v->totals));
	v->was_totals = calloc(p->nr_classes + 1, sizeof(*v->was_totals));
	if (v->rows && v->totals && v->was_totals && called) {
		choose_rows(v, called);
		v->show_app = shows_apps(v);
		if (!sort_rows(v))
			return 0;
	}
	view_fini(v);
	return -ENOMEM;
}

void view_fini(struct view *v)
{
	free(v->rows);
	free(v->totals);
	free(v->was_totals);
	*v = (struct view){ 0 };
}
