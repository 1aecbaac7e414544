/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static size_t row_index(const struct calls *c, const struct profile_row *row)
{
	return (size_t)(row - c->p->rows);
}

/* Where each row's arcs begin; one more entry is their end. */
static void find_firsts(struct calls *c)
{
	const struct profile *p = c->p;

	for (size_t i = 0; i < p->nr_arcs; i++) {
		c->first_out[p->arcs[i].caller + 1]++;
		c->first_in[p->arcs[i].callee + 1]++;
	}
	for (size_t i = 0; i < p->nr_rows; i++) {
		c->first_out[i + 1] += c->first_out[i];
		c->first_in[i + 1] += c->first_in[i];
	}
}

static void sort_by_callee(struct calls *c)
{
	const struct profile *p = c->p;

	for (size_t i = 0; i < p->nr_arcs; i++)
		c->by_callee[c->first_in[p->arcs[i].callee]++] = (uint32_t)i;
	/* Each entry has moved to where the next one begins. */
	memmove(c->first_in + 1, c->first_in, p->nr_rows * sizeof(*c->first_in));
	c->first_in[0] = 0;
}

int calls_init(struct calls *c, const struct view *view)
{
	const struct profile *p = view->p;

	*c = (struct calls){
		.p = p,
		.o = &view->options,
		.by_callee = calloc(p->nr_arcs + 1, sizeof(*c->by_callee)),
		.first_in = calloc(p->nr_rows + 2, sizeof(*c->first_in)),
		.first_out = calloc(p->nr_rows + 2, sizeof(*c->first_out)),
		.room = calloc(p->nr_arcs + 1, sizeof(*c->room)),
	};
	if (!c->by_callee || !c->first_in || !c->first_out || !c->room) {
		calls_fini(c);
		return -ENOMEM;
	}
	find_firsts(c);
	sort_by_callee(c);
	return 0;
}

void calls_fini(struct calls *c)
{
	free(c->by_callee);
	free(c->first_in);
	free(c->first_out);
	free(c->room);
	*c = (struct calls){ 0 };
}

/* Arcs with equal samples are in an order that does not depend on the numbers of rows. */
static int compare_ends(const struct call *a, const struct call *b,
			const struct profile *p)
{
	const struct catalog_image *images = p->cat->images;
	int order = strcmp(images[a->row->image].shown, images[b->row->image].shown);

	order = order ? order : strcmp(a->row->name, b->row->name);
	if (!order && profile_vma(a->row) != profile_vma(b->row))
		order = profile_vma(a->row) < profile_vma(b->row) ? -1 : 1;
	return order ? order : (int)b->self - (int)a->self;
}

static int compare_samples(const struct call *a, const struct call *b,
			   const struct profile *p)
{
	uint64_t of_a = profile_sum(a->samples, p->nr_classes);
	uint64_t of_b = profile_sum(b->samples, p->nr_classes);

	return (of_a > of_b) - (of_a < of_b);
}

static int ascending(const void *a, const void *b, void *p)
{
	int order = compare_samples(a, b, p);

	return order ? order : compare_ends(a, b, p);
}

static int descending(const void *a, const void *b, void *p)
{
	int order = compare_samples(b, a, p);

	return order ? order : compare_ends(a, b, p);
}

static bool excluded(const struct calls *c, const struct profile_row *row)
{
	return c->o->exclude_dependent && row->app != row->image;
}

static struct call_list sorted(struct calls *c, size_t nr,
			       int (*compare)(const void *x, const void *y, void *p))
{
	qsort_r(c->room, nr, sizeof(*c->room), compare, (void *)c->p);
	return (struct call_list){ c->room, nr };
}

struct call_list calls_callers(struct calls *c, const struct profile_row *row)
{
	const struct profile *p = c->p;
	size_t at = row_index(c, row), n = 0;

	for (size_t i = c->first_in[at]; i < c->first_in[at + 1]; i++) {
		const struct profile_arc *arc = &p->arcs[c->by_callee[i]];

		if (!excluded(c, &p->rows[arc->caller]))
			c->room[n++] = (struct call){ .row = &p->rows[arc->caller],
						      .samples = arc->samples };
	}
	return sorted(c, n, ascending);
}

struct call_list calls_callees(struct calls *c, const struct profile_row *row)
{
	const struct profile *p = c->p;
	size_t at = row_index(c, row), n = 0;

	for (size_t i = c->first_out[at]; i < c->first_out[at + 1]; i++)
		if (!excluded(c, &p->rows[p->arcs[i].callee]))
			c->room[n++] = (struct call){
				.row = &p->rows[p->arcs[i].callee],
				.samples = p->arcs[i].samples,
			};
	c->room[n++] = (struct call){ .row = row, .samples = row->samples, .self = true };
	return sorted(c, n, descending);
}
