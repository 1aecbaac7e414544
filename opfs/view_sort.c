/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "opfs/view_impl.h"

static int by_samples(const struct view *v, const struct profile_row *a,
		      const struct profile_row *b)
{
	return v->p->nr_classes ? view_compare_numbers(b->samples[0], a->samples[0]) : 0;
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
	return view_compare_numbers(a->vma, b->vma);
}

/* No file comes first, then files by name, then lines. */
static int compare_places(const struct line_place *a, const struct line_place *b)
{
	int order = strcmp(a->file, b->file);

	return order ? order : view_compare_numbers(a->line, b->line);
}

/* @out->file: what of it is shown, never NULL. */
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

/* What is new grew most, what is gone least; else the change of the share decides. */
static double growth(const struct view *v, const struct profile_row *row)
{
	switch (profile_changed(row->samples, row->was, row->gone, 0)) {
	case PROFILE_NEW:
		return HUGE_VAL;
	case PROFILE_BOTH:
		return profile_growth(row->samples[0], v->totals[0], row->was[0],
				      v->was_totals[0]);
	case PROFILE_GONE:
		return -HUGE_VAL;
	default:
		return 0;
	}
}

static int by_diff(const struct view *v, const struct profile_row *a,
		   const struct profile_row *b)
{
	double x, y;

	if (!v->p->base || !v->p->nr_classes)
		return 0;
	x = growth(v, a);
	y = growth(v, b);
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

/* Where every key is equal the images' full names decide: there is one order only. */
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
 * Sorting: the first keys of a row, as far as they are numbers or ranks, are packed into
 * 128 bits, which decides nearly always; names are compared for the rest.
 */
struct packed {
	uint64_t high, low;
	const struct profile_row *row;
};

struct sorter {
	const struct view *v;
	const uint32_t *ranks; /* of every image's name; equal names have equal ranks */
	const uint32_t *debug; /* of every row's place in the source */
	size_t nr_packed;      /* keys in @high and @low */
};

static int compare_names(const void *x, const void *y, void *ctx)
{
	const struct view *v = ctx;

	return strcmp(view_image_name(v->p, &v->options, *(const uint32_t *)x),
		      view_image_name(v->p, &v->options, *(const uint32_t *)y));
}

static uint32_t *rank_images(struct view *v)
{
	size_t nr = v->p->cat->nr_images;
	uint32_t *ranks = calloc(nr + 1, sizeof(*ranks));
	uint32_t *order = calloc(nr + 1, sizeof(*order));

	for (size_t i = 0; ranks && order && i < nr; i++)
		order[i] = (uint32_t)i;
	if (ranks && order) {
		qsort_r(order, nr, sizeof(*order), compare_names, v);
		for (size_t i = 1; i < nr; i++)
			ranks[order[i]] =
				ranks[order[i - 1]] +
				(compare_names(&order[i - 1], &order[i], v) != 0);
		free(order);
		return ranks;
	}
	free(order);
	free(ranks);
	return NULL;
}

/* Places are ranked if they decide before names do; looking up each is dear. */
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

/* Bits of the number that stands for a key; 0: there is none. */
static const unsigned key_bits[VIEW_NR_KEYS] = {
	[VIEW_BY_SAMPLES] = 64,
	[VIEW_BY_IMAGE] = 32,
	[VIEW_BY_APP] = 32,
	[VIEW_BY_DEBUG] = 32,
	[VIEW_BY_VMA] = 64,
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
		return s->v->p->nr_classes ? ~row->samples[0] : 0;
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
	int order = view_compare_numbers(a->high, b->high);

	if (!order)
		order = view_compare_numbers(a->low, b->low);
	if (!order)
		order = compare_from(s->v, s->nr_packed, a->row, b->row);
	return s->v->options.reverse ? -order : order;
}

int view_sort_rows(struct view *v)
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
