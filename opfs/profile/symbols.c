/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/profile/symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "opfs/profile/build.h"
#include "opfs/profile/hits.h"
#include "opfs/profile/nameless.h"
#include "opfs/profile/stacks.h"

/* From sample files to rows by symbol: nodes are read in blocks and counted in arrays. */

/* ---- rows */

static int describe_nameless(const struct profile_build *b, struct profile_row *row)
{
	const struct sym_table *table = b->p->images[row->image].table;

	row->kind = profile_nameless_kind(b, row->image);
	row->name = profile_nameless_row(b, row->image);
	if (table && table->nr_entries)
		return 0;
	row->in_trees = profile_nameless_func(b, row->image, NULL);
	return row->in_trees ? 0 : -ENOMEM;
}

static int describe_row(const struct profile_build *b, struct profile_row *row)
{
	if (!row->sym)
		return describe_nameless(b, row);
	row->kind = PROFILE_ROW_SYMBOL;
	row->name = sym_name(row->sym);
	row->vma = row->sym->vma;
	return 0;
}

struct profile_row *profile_add_row(struct profile_build *b,
				    const struct profile_place *at)
{
	struct profile_row row = {
		.app = at->app,
		.image = at->image,
		.sym = at->sym,
		.has_children = profile_has_arcs(b->p->loaded) && b->stacks,
	};

	row.samples = arena_calloc(&b->p->arena, b->p->nr_classes,
				   (1 + row.has_children) * sizeof(*row.samples));
	if (describe_row(b, &row) || !row.samples || vec_push(&b->rows, row))
		return NULL;
	return &b->rows.data[b->rows.len - 1];
}

/* ---- counting */

struct bins { /* counters of one image in one application; the last slot: no symbol */
	struct profile_build *b;
	const struct sym_table *table; /* NULL: shown as itself, there is one slot */
	size_t nr_classes, nr_slots;
	uint64_t *counts;  /* [slot][class] */
	uint32_t *touched; /* slots that are not zero */
	size_t nr_touched;
	uint32_t *row_of_slot; /* 1 once it is in @touched; then its row */
	uint32_t class;        /* of the file being read, */
	uint64_t base;         /* and what its keys are counted from */
	bool keep_spots;       /* PROFILE_HITS */
	struct profile_spots spots;
	VEC(uint32_t) slot_of_off; /* of every distinct offset of @spots */
};

static void bins_fini(struct bins *n)
{
	free(n->counts);
	free(n->touched);
	free(n->row_of_slot);
	profile_spots_fini(&n->spots);
	vec_fini(&n->slot_of_off);
}

static int bins_init(struct bins *n, struct profile_build *b, uint32_t image)
{
	n->b = b;
	n->table = b->p->images[image].table;
	n->nr_classes = b->p->nr_classes;
	n->nr_slots = (n->table ? n->table->nr_syms : 0) + 1;
	n->keep_spots = (b->p->loaded & PROFILE_HITS) == PROFILE_HITS;
	n->counts = calloc(n->nr_slots, n->nr_classes * sizeof(*n->counts));
	n->touched = calloc(n->nr_slots, sizeof(*n->touched));
	n->row_of_slot = calloc(n->nr_slots, sizeof(*n->row_of_slot));
	return n->counts && n->touched && n->row_of_slot ? 0 : -ENOMEM;
}

static uint32_t find_slot(const struct bins *n, uint64_t off)
{
	const struct sym *sym = n->table ? sym_find(n->table, off) : NULL;

	return sym ? (uint32_t)(sym - n->table->syms) : (uint32_t)n->nr_slots - 1;
}

static void count(struct bins *n, uint32_t slot, uint32_t class, uint32_t value)
{
	if (!n->row_of_slot[slot]) {
		n->row_of_slot[slot] = 1;
		n->touched[n->nr_touched++] = slot;
	}
	n->counts[slot * n->nr_classes + class] += value;
}

static int count_nodes(void *ctx, const struct spec_sample_node *nodes, size_t nr)
{
	struct bins *n = ctx;

	for (size_t i = 0; i < nr; i++)
		if (nodes[i].value)
			count(n, find_slot(n, nodes[i].key + n->base), n->class,
			      nodes[i].value);
	return viewer_gone(n->b->v) ? profile_interrupted(n->b) : 0;
}

static int keep_nodes(void *ctx, const struct spec_sample_node *nodes, size_t nr)
{
	struct bins *n = ctx;
	struct sort_item *to;

	if (n->spots.list.len + nr > PROFILE_MAX_HITS)
		return err_set(n->b->err, -E2BIG,
			       "more than %u places with samples in one image: choose a "
			       "part with event:, image: or cpu:",
			       PROFILE_MAX_HITS);
	if (vec_reserve(&n->spots.list, nr))
		return profile_no_memory(n->b);
	to = n->spots.list.data + n->spots.list.len;
	for (size_t i = 0; i < nr; i++)
		if (nodes[i].value)
			*to++ = (struct sort_item){ .key = nodes[i].key + n->base,
						    .a = nodes[i].value,
						    .b = n->class };
	n->spots.list.len = (size_t)(to - n->spots.list.data);
	return viewer_gone(n->b->v) ? profile_interrupted(n->b) : 0;
}

static int count_file(struct bins *n, const struct profile_pick *pick)
{
	profile_nodes_visit visit = n->keep_spots ? keep_nodes : count_nodes;
	struct profile_build *b = n->b;
	struct err why = { 0 };
	int rc;

	if (viewer_gone(b->v))
		return profile_interrupted(b);
	n->class = pick->class;
	n->base = pick->base + (n->table ? n->table->text_off : 0);
	rc = b->first_stack ? profile_slice_nodes(b, pick->file, visit, n)
			    : profile_read_nodes(b->p->cat, pick->file, visit, n, &why);
	if (rc == -ENOMEM)
		return profile_no_memory(b);
	return rc ? rc : profile_note_bad(b, pick->file, &why);
}

/* By offset, so that a place that is in several files is looked up once. */
static int count_spots(struct bins *n)
{
	const struct sort_item *spots = n->spots.list.data;
	size_t nr = n->spots.list.len;
	uint32_t slot = 0;

	if (profile_spots_sort(&n->spots))
		return profile_no_memory(n->b);
	spots = n->spots.list.data;
	n->slot_of_off.len = 0;
	for (size_t i = 0; i < nr; i++) {
		if (!i || spots[i].key != spots[i - 1].key) {
			slot = find_slot(n, spots[i].key);
			if (vec_push(&n->slot_of_off, slot))
				return profile_no_memory(n->b);
		}
		count(n, slot, spots[i].b, spots[i].a);
	}
	return 0;
}

/* Moves the counters into rows. */
static int make_rows(struct bins *n, uint32_t app, uint32_t image)
{
	struct profile_build *b = n->b;

	for (size_t i = 0; i < n->nr_touched; i++) {
		size_t slot = n->touched[i];
		struct profile_place at = { .app = app, .image = image };
		struct profile_row *row;

		if (slot < n->nr_slots - 1)
			at.sym = &n->table->syms[slot];
		row = profile_add_row(b, &at);
		if (!row)
			return profile_no_memory(b);
		memcpy(row->samples, &n->counts[slot * n->nr_classes],
		       n->nr_classes * sizeof(*n->counts));
		n->row_of_slot[slot] = (uint32_t)(b->rows.len - 1);
	}
	return 0;
}

/* Leaves everything zero for the next application. */
static void empty_bins(struct bins *n)
{
	for (size_t i = 0; i < n->nr_touched; i++) {
		size_t slot = n->touched[i];

		memset(&n->counts[slot * n->nr_classes], 0,
		       n->nr_classes * sizeof(*n->counts));
		n->row_of_slot[slot] = 0;
	}
	n->nr_touched = 0;
	n->spots.list.len = 0;
}

/* Picks [i, end) are of one image in one application. */
static int count_app(struct bins *n, size_t i, size_t end)
{
	struct profile_build *b = n->b;
	const struct profile_pick *first = &b->picks[i];
	int rc = 0;

	for (; i < end && !rc; i++)
		rc = count_file(n, &b->picks[i]);
	if (!rc && n->keep_spots)
		rc = count_spots(n);
	if (!rc)
		rc = make_rows(n, first->app, first->file->image);
	if (!rc && n->keep_spots)
		rc = profile_spots_share(b, &n->spots, n->slot_of_off.data,
					 n->slot_of_off.len, n->row_of_slot);
	empty_bins(n);
	return rc;
}

/* Picks [i, end) are of one image. */
static int count_image(struct profile_build *b, size_t i, size_t end)
{
	CLEANUP(bins_fini) struct bins n = { 0 };
	int rc = 0;

	if (bins_init(&n, b, b->picks[i].file->image))
		return profile_no_memory(b);
	for (size_t next; i < end && !rc; i = next) {
		next = profile_picks_end(b, i, true);
		rc = count_app(&n, i, next);
	}
	return rc;
}

/* The same for an image that is shown as itself: the catalog has its totals. */
static int count_whole(struct profile_build *b, size_t i, size_t end)
{
	while (i < end) {
		const struct profile_pick *first = &b->picks[i];
		const struct profile_place at = { .app = first->app,
						  .image = first->file->image };
		struct profile_row *row = profile_add_row(b, &at);
		size_t next = profile_picks_end(b, i, true);

		if (!row)
			return profile_no_memory(b);
		for (; i < next; i++)
			row->samples[b->picks[i].class] += b->picks[i].file->total;
	}
	return 0;
}

int profile_count(struct profile_build *b)
{
	bool hits = (b->p->loaded & PROFILE_HITS) == PROFILE_HITS;
	int rc = 0;

	for (size_t i = 0, end; i < b->nr_picks && !rc; i = end) {
		end = profile_picks_end(b, i, false);
		if (hits || b->first_stack || b->p->images[b->picks[i].file->image].table)
			rc = count_image(b, i, end);
		else
			rc = count_whole(b, i, end);
	}
	return rc;
}

/* True if a name may be mangled (C++, Rust, D); helpers are asked for these only. */
static bool may_be_mangled(const char *name)
{
	while (name[0] == '_' && name[1] == '_')
		name++;
	return name[0] == '_' &&
	       (name[1] == 'Z' || name[1] == 'R' || name[1] == 'D' || name[1] == 'G');
}

/* The mangled names of symbols, each once: image by image, as rows and functions are. */
struct mangled {
	VEC(const char *) names;
	uint32_t *of_sym;  /* of the image at hand: 1 + index into names, 0: none yet */
	uint32_t *of_row;  /* the same for every row, */
	uint32_t *of_func; /* and for every function in stacks */
};

static void mangled_fini(struct mangled *m)
{
	vec_fini(&m->names);
	free(m->of_sym);
	free(m->of_row);
	free(m->of_func);
}

static int collect(struct mangled *m, const struct sym *sym,
		   const struct sym_table *table, uint32_t *out)
{
	uint32_t *slot;

	if (!sym || !may_be_mangled(sym_name(sym)))
		return 0;
	slot = &m->of_sym[sym - table->syms];
	if (!*slot) {
		if (vec_push(&m->names, sym_name(sym)))
			return -ENOMEM;
		*slot = (uint32_t)m->names.len;
	}
	*out = *slot;
	return 0;
}

/* Takes the rows and functions of @image, from *row and *func on. */
static int collect_image(struct mangled *m, const struct profile_build *b, uint32_t image,
			 size_t *row, size_t *func)
{
	const struct sym_table *table = b->p->images[image].table;
	const struct profile_stacks *s = b->stacks;
	int rc = 0;

	free(m->of_sym);
	m->of_sym = calloc((table ? table->nr_syms : 0) + 1, sizeof(*m->of_sym));
	if (!m->of_sym)
		return -ENOMEM;
	for (; *row < b->rows.len && b->rows.data[*row].image == image && !rc; ++*row)
		rc = collect(m, b->rows.data[*row].sym, table, &m->of_row[*row]);
	for (; s && *func < s->nr_funcs && s->funcs[*func].image == image && !rc; ++*func)
		rc = collect(m, s->funcs[*func].sym, table, &m->of_func[*func]);
	return rc;
}

static int collect_names(const struct profile_build *b, struct mangled *m)
{
	const struct profile_stacks *s = b->stacks;
	size_t row = 0, func = 0;
	int rc = 0;

	m->of_row = calloc(b->rows.len + 1, sizeof(*m->of_row));
	m->of_func = calloc((s ? s->nr_funcs : 0) + 1, sizeof(*m->of_func));
	if (!m->of_row || !m->of_func)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->p->cat->nr_images && !rc; i++)
		if (b->p->images[i].used)
			rc = collect_image(m, b, i, &row, &func);
	return rc;
}

int profile_name_from_stacks(struct profile_build *b)
{
	CLEANUP(map_u64_fini) struct map_u64 of_sym = { 0 };
	uint64_t func;

	for (size_t i = 0; i < b->stacks->nr_funcs; i++)
		if (b->stacks->funcs[i].sym &&
		    map_u64_set(&of_sym, (uintptr_t)b->stacks->funcs[i].sym, i))
			return profile_no_memory(b);
	vec_for(&b->rows, row)
		if (row->sym && map_u64_get(&of_sym, (uintptr_t)row->sym, &func))
			row->name = b->stacks->funcs[func].name;
	return 0;
}

int profile_name_rows(struct profile_build *b)
{
	CLEANUP(mangled_fini) struct mangled m = { 0 };
	const char *const *names;
	int rc;

	if (b->first_stack)
		return profile_name_from_stacks(b); /* each is at the end of one */
	if (collect_names(b, &m))
		return profile_no_memory(b);
	if (!m.names.len)
		return 0;
	rc = sym_server_demangle(sym_cache_server(b->syms), m.names.data, m.names.len,
				 b->q->demangle, b->v, &b->p->names, NULL);
	if (rc == -EINTR)
		return profile_interrupted(b);
	if (rc == -ENOMEM)
		return profile_no_memory(b);
	if (rc)
		return 0; /* a name broke the demangler: all names stay as they are */
	names = (const char *const *)b->p->names->name;
	for (size_t i = 0; i < b->rows.len; i++)
		if (m.of_row[i])
			b->rows.data[i].name = names[m.of_row[i] - 1];
	for (size_t i = 0; b->stacks && i < b->stacks->nr_funcs; i++)
		if (m.of_func[i])
			b->stacks->funcs[i].name = names[m.of_func[i] - 1];
	return 0;
}
