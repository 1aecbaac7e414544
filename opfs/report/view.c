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
#include "base/sort.h"
#include "opfs/profile/change.h"

/* What rows are ordered by, and measured with the threshold. */
static const uint64_t *weight(const struct view *v, const struct profile_row *row)
{
	return v->options.children && row->has_children
		       ? profile_children(row, v->p->nr_classes)
		       : row->samples;
}

static int by_samples(const struct view *v, const struct profile_row *a,
		      const struct profile_row *b)
{
	size_t nr = v->p->nr_classes;

	return view_compare(profile_sum(weight(v, b), nr), profile_sum(weight(v, a), nr));
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
	return view_compare(profile_vma(a), profile_vma(b));
}

/* Rows without a file first, then by name of the file, then by line. */
static int compare_places(const struct line_place *a, const struct line_place *b)
{
	int order = strcmp(a->file, b->file);

	return order ? order : view_compare(a->line, b->line);
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
 * Sorting: the first keys of a row that are numbers or ranks are packed into 64 bits, in
 * as few bits as they need.  Among rows that are equal there names are compared, eight
 * bytes at a time, and all other keys only among those that are equal there as well.
 */
struct sorter {
	struct view *v;
	/* of the names of images that rows have; equal names have equal ranks */
	uint32_t *ranks;
	uint32_t *debug;         /* for every row's place in the source, or NULL */
	struct sort_item *items; /* of v->nr_rows; a: which row of the profile */
	struct sort_item *spare;
	size_t nr_packed; /* how many keys are packed */
};

static void sorter_fini(struct sorter *s)
{
	free(s->ranks);
	free(s->debug);
	free(s->items);
	free(s->spare);
}

static const struct profile_row *row_at(const struct sorter *s, size_t i)
{
	return &s->v->p->rows[s->items[i].a];
}

static int compare_names(const void *x, const void *y, void *ctx)
{
	const struct view *v = ctx;

	return strcmp(view_image_name(v->p, &v->options, *(const uint32_t *)x),
		      view_image_name(v->p, &v->options, *(const uint32_t *)y));
}

/* Only the images that rows have: a session may have many more. */
static uint32_t *rank_images(const struct sorter *s)
{
	struct view *v = s->v;
	size_t max = v->p->cat->nr_images + 1, nr = 0;
	CLEANUP(free_ptr) uint32_t *ranks = calloc(max, sizeof(*ranks));
	CLEANUP(free_ptr) uint32_t *order = calloc(max, sizeof(*order));

	if (!ranks || !order)
		return NULL;
	for (size_t i = 0; i < 2 * v->nr_rows; i++) {
		const struct profile_row *row = row_at(s, i / 2);
		uint32_t image = i % 2 ? row->app : row->image;

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
	size_t i; /* in the sorter's items */
};

static int compare_placed(const void *x, const void *y)
{
	const struct placed *a = x, *b = y;

	return compare_places(&a->at, &b->at);
}

/* NULL: out of memory. */
static uint32_t *rank_places(const struct sorter *s)
{
	const struct view *v = s->v;
	CLEANUP(free_ptr) struct placed *all = calloc(v->nr_rows + 1, sizeof(*all));
	uint32_t *ranks = calloc(v->nr_rows + 1, sizeof(*ranks));
	uint32_t rank = 0;

	if (!all || !ranks) {
		free(ranks);
		return NULL;
	}
	for (size_t i = 0; i < v->nr_rows; i++) {
		place_of(v, row_at(s, i), &all[i].at);
		all[i].i = i;
	}
	qsort(all, v->nr_rows, sizeof(*all), compare_placed);
	for (size_t i = 0; i < v->nr_rows; i++) {
		if (i && compare_placed(&all[i - 1], &all[i]))
			rank++;
		ranks[all[i].i] = rank;
	}
	return ranks;
}

static bool is_number(const struct sorter *s, enum view_key key)
{
	return key != VIEW_BY_SYMBOL && key != VIEW_BY_DIFF &&
	       (key != VIEW_BY_DEBUG || s->debug);
}

static uint64_t key_number(const struct sorter *s, enum view_key key, size_t i)
{
	const struct profile_row *row = row_at(s, i);

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
		return profile_vma(row);
	}
}

/* Packs the first keys, as many as are numbers and have room together. */
static void pack_keys(struct sorter *s)
{
	struct {
		uint64_t least, most;
		unsigned bits; /* 0: it is the same for all */
	} keys[VIEW_NR_KEYS];
	const enum view_key *sort = s->v->options.sort;
	size_t nr_rows = s->v->nr_rows, nr = 0;
	unsigned used = 0;

	for (; nr < VIEW_NR_KEYS && is_number(s, sort[nr]); nr++)
		keys[nr].least = UINT64_MAX, keys[nr].most = 0;
	for (size_t i = 0; i < nr_rows; i++)
		for (size_t k = 0; k < nr; k++) {
			uint64_t n = key_number(s, sort[k], i);

			keys[k].least = n < keys[k].least ? n : keys[k].least;
			keys[k].most = n > keys[k].most ? n : keys[k].most;
		}
	for (; s->nr_packed < nr && nr_rows; s->nr_packed++) {
		uint64_t span = keys[s->nr_packed].most - keys[s->nr_packed].least;
		unsigned bits = span ? 64 - (unsigned)__builtin_clzll(span) : 0;

		if (used + bits > 64)
			break;
		keys[s->nr_packed].bits = bits;
		used += bits;
	}
	for (size_t i = 0; i < nr_rows; i++) {
		uint64_t packed = 0;

		for (size_t k = 0; k < s->nr_packed; k++) {
			uint64_t n = key_number(s, sort[k], i);

			n = s->v->options.reverse ? keys[k].most - n : n - keys[k].least;
			packed = (keys[k].bits < 64 ? packed << keys[k].bits : 0) | n;
		}
		s->items[i].key = packed;
	}
}

struct rest { /* what decides among equal rows */
	const struct view *v;
	size_t first_key;
};

static int compare_rest(const void *x, const void *y, void *ctx)
{
	const struct sort_item *a = x, *b = y;
	const struct rest *rest = ctx;
	const struct profile_row *rows = rest->v->p->rows;
	int order = compare_from(rest->v, rest->first_key, &rows[a->a], &rows[b->a]);

	if (!order)
		return view_compare(a->a, b->a);
	return rest->v->options.reverse ? -order : order;
}

static void sort_rest(const struct sorter *s, struct sort_item *items, size_t nr,
		      size_t first_key)
{
	struct rest rest = { s->v, first_key };

	qsort_r(items, nr, sizeof(*items), compare_rest, &rest);
}

static size_t equal_end(const struct sort_item *items, size_t nr, size_t first)
{
	size_t end = first + 1;

	while (end < nr && items[end].key == items[first].key)
		end++;
	return end;
}

enum { PART = sizeof(uint64_t), DEEP = 64 * PART };

/* Some bytes of a name as a number that is ordered as they are; 0 behind its end. */
static uint64_t name_part(const char *name, size_t at)
{
	uint64_t part = 0;

	name += at;
	for (int i = 0; i < PART; i++) {
		part = part << 8 | (unsigned char)*name;
		name += *name != 0;
	}
	return part;
}

/* Sorts rows whose names are equal as far as @at. */
static void sort_names(const struct sorter *s, struct sort_item *items, size_t nr,
		       size_t at)
{
	uint64_t flip = s->v->options.reverse ? UINT64_MAX : 0;
	const struct profile_row *rows = s->v->p->rows;

	for (size_t i = 0; i < nr; i++) {
		if (i + VIEW_SOON < nr)
			__builtin_prefetch(&rows[items[i + VIEW_SOON].a]);
		if (i + VIEW_SOON / 2 < nr)
			__builtin_prefetch(rows[items[i + VIEW_SOON / 2].a].name + at);
		items[i].key = name_part(rows[items[i].a].name, at) ^ flip;
	}
	sort_items(items, nr, s->spare);
	for (size_t i = 0, end; i < nr; i = end) {
		end = equal_end(items, nr, i);
		if (end - i < 2)
			continue;
		if (!((items[i].key ^ flip) & 0xff)) /* the names end here */
			sort_rest(s, items + i, end - i, s->nr_packed + 1);
		else if (at >= DEEP)
			sort_rest(s, items + i, end - i, s->nr_packed);
		else
			sort_names(s, items + i, end - i, at + PART);
	}
}

static void sort_all(const struct sorter *s)
{
	size_t nr = s->v->nr_rows, next = s->nr_packed;
	bool names = next < VIEW_NR_KEYS && s->v->options.sort[next] == VIEW_BY_SYMBOL;

	sort_items(s->items, nr, s->spare);
	for (size_t i = 0, end; i < nr; i = end) {
		end = equal_end(s->items, nr, i);
		if (end - i > 1 && names)
			sort_names(s, s->items + i, end - i, 0);
		else if (end - i > 1)
			sort_rest(s, s->items + i, end - i, next);
	}
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
	v->wide_vma = v->wide_vma || profile_vma(row) > UINT32_MAX;
}

/* With only_called: which rows are at the ends of arcs that are shown.  free() */
static bool *find_called(const struct view *v)
{
	const struct profile *p = v->p;
	bool *called = calloc(p->nr_rows + 1, sizeof(*called));

	for (size_t i = 0; called && v->options.only_called && i < p->nr_arcs; i++) {
		const struct profile_row *from = &p->rows[p->arcs[i].caller];
		const struct profile_row *to = &p->rows[p->arcs[i].callee];

		if (view_excludes(&v->options, from->app, from->image) ||
		    view_excludes(&v->options, to->app, to->image))
			continue;
		called[p->arcs[i].caller] = called[p->arcs[i].callee] = true;
	}
	return called;
}

static void choose_rows(struct sorter *s, const bool *called)
{
	struct view *v = s->v;
	const struct profile *p = v->p;
	size_t n = 0;

	for (size_t i = 0; i < p->nr_rows; i++) {
		const struct profile_row *row = &p->rows[i];

		if (view_excludes(&v->options, row->app, row->image))
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
		s->items[n++].a = (uint32_t)i;
	}
	for (size_t i = 0; i < n; i++) {
		const struct profile_row *row = row_at(s, i);

		if (!reaches(v, row))
			continue;
		note_columns(v, row);
		s->items[v->nr_rows++].a = s->items[i].a;
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
			    view_excludes(&v->options, pair->app, pair->image))
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
static bool shows_apps(const struct sorter *s)
{
	const struct view *v = s->v;
	const struct profile *all = v->p;
	bool differ = false;

	for (size_t i = 1; i < v->nr_rows && !differ; i++)
		differ = row_at(s, i)->app != row_at(s, 0)->app;
	while (all->parent && differ)
		all = all->parent;
	return differ && (several_apps(v, v->p) || several_apps(v, all));
}

/* Chooses rows and sorts them as v->options say, all keys of which are set. */
static int choose_and_sort(struct sorter *s)
{
	struct view *v = s->v;
	size_t nr = v->p->nr_rows;
	CLEANUP(free_ptr) bool *called = find_called(v);

	s->items = malloc((nr + 1) * sizeof(*s->items));
	if (!called || !s->items)
		return -ENOMEM;
	choose_rows(s, called);
	v->show_app = shows_apps(s);
	s->ranks = rank_images(s);
	s->debug = ranks_places(v) ? rank_places(s) : NULL;
	s->spare = malloc((v->nr_rows + 1) * sizeof(*s->spare));
	if (!s->ranks || !s->spare || (ranks_places(v) && !s->debug))
		return -ENOMEM;
	pack_keys(s);
	sort_all(s);
	v->rows = (void *)TAKE(s->spare); /* needed no more, and large enough */
	for (size_t i = 0; i < v->nr_rows; i++)
		v->rows[i] = row_at(s, i);
	return 0;
}

int view_init(struct view *v, const struct profile *p, const struct view_options *o)
{
	CLEANUP(sorter_fini) struct sorter s = { .v = v };

	*v = (struct view){ .p = p, .options = *o };
	complete_keys(&v->options);
	v->totals = calloc(p->nr_classes + 1, sizeof(*v->totals));
	v->was_totals = calloc(p->nr_classes + 1, sizeof(*v->was_totals));
	if (v->totals && v->was_totals && !choose_and_sort(&s))
		return 0;
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
