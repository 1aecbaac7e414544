/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/profile/symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "opfs/profile/build.h"
#include "opfs/profile/hits.h"
#include "opfs/profile/images.h"

/* From sample files to rows by symbol: nodes are read in blocks and counted in arrays. */

/* ---- rows */

static void describe_row(const struct profile_build *b, struct profile_row *row)
{
	const struct sym_table *table = b->p->images[row->image].table;

	if (row->sym) {
		row->kind = PROFILE_ROW_SYMBOL;
		row->name = row->sym->name;
		row->vma = row->sym->vma;
	} else if (!table || profile_stripped(table)) {
		row->kind = PROFILE_ROW_IMAGE;
		row->name = b->p->cat->images[row->image].shown;
	} else {
		row->kind = PROFILE_ROW_NONE;
		row->name = "(no symbol)";
	}
}

struct profile_row *profile_add_row(struct profile_build *b,
				    const struct profile_place *at)
{
	struct profile_row row = {
		.app = at->app,
		.image = at->image,
		.sym = at->sym,
		.samples = arena_calloc(&b->p->arena, b->p->nr_classes, sizeof(uint64_t)),
	};

	describe_row(b, &row);
	if (!row.samples || vec_push(&b->rows, row))
		return NULL;
	return &b->rows.data[b->rows.len - 1];
}

/* ---- counting */

struct bins { /* counters of one image in one application; the last slot: no symbol */
	struct profile_build *b;
	const struct sym_table *table; /* NULL: shown as itself, there is one slot */
	size_t nr_classes, nr_slots;
	uint64_t text_off;
	uint64_t *counts;  /* [slot][class] */
	uint32_t *touched; /* slots that are not zero */
	size_t nr_touched;
	uint32_t *row_of_slot; /* 1 once it is in @touched; then its row */
	uint32_t class;        /* of the file being read */
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
	n->text_off = n->table ? n->table->text_off : 0;
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
			count(n, find_slot(n, nodes[i].key + n->text_off), n->class,
			      nodes[i].value);
	return viewer_gone(n->b->v) ? profile_interrupted(n->b) : 0;
}

static int keep_nodes(void *ctx, const struct spec_sample_node *nodes, size_t nr)
{
	struct bins *n = ctx;
	struct profile_spot *to;

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
			*to++ = (struct profile_spot){ .off = nodes[i].key + n->text_off,
						       .value = nodes[i].value,
						       .class = n->class };
	n->spots.list.len = (size_t)(to - n->spots.list.data);
	return viewer_gone(n->b->v) ? profile_interrupted(n->b) : 0;
}

static int count_file(struct bins *n, const struct profile_pick *pick)
{
	struct profile_build *b = n->b;
	struct err why = { 0 };
	int rc;

	if (viewer_gone(b->v))
		return profile_interrupted(b);
	n->class = pick->class;
	rc = profile_read_nodes(b->p->cat, pick->file,
				n->keep_spots ? keep_nodes : count_nodes, n, &why);
	if (rc == -ENOMEM)
		return profile_no_memory(b);
	return rc ? rc : profile_note_bad(b, pick->file, &why);
}

/* By offset, so that a place that is in several files is looked up once. */
static int count_spots(struct bins *n)
{
	const struct profile_spot *spots = n->spots.list.data;
	size_t nr = n->spots.list.len;
	uint32_t slot = 0;

	if (profile_spots_sort(&n->spots))
		return profile_no_memory(n->b);
	spots = n->spots.list.data;
	n->slot_of_off.len = 0;
	for (size_t i = 0; i < nr; i++) {
		if (!i || spots[i].off != spots[i - 1].off) {
			slot = find_slot(n, spots[i].off);
			if (vec_push(&n->slot_of_off, slot))
				return profile_no_memory(n->b);
		}
		count(n, slot, spots[i].class, spots[i].value);
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
		if (hits || b->p->images[b->picks[i].file->image].table)
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

/* The mangled names of sampled symbols, each once: image by image, as rows are. */
struct mangled {
	VEC(const char *) names;
	uint32_t *of_sym; /* of the image at hand: 1 + index into names, 0: none yet */
	uint32_t *of_row; /* the same for every row */
};

static void mangled_fini(struct mangled *m)
{
	vec_fini(&m->names);
	free(m->of_sym);
	free(m->of_row);
}

/* @rows are of one image; @of_row is theirs. */
static int collect_image(struct mangled *m, const struct profile_row *rows, size_t nr,
			 const struct sym_table *table, uint32_t *of_row)
{
	for (size_t i = 0; i < nr; i++) {
		const struct sym *sym = rows[i].sym;
		uint32_t *slot;

		if (!sym || !may_be_mangled(sym->name))
			continue;
		slot = &m->of_sym[sym - table->syms];
		if (!*slot) {
			if (vec_push(&m->names, sym->name))
				return -ENOMEM;
			*slot = (uint32_t)m->names.len;
		}
		of_row[i] = *slot;
	}
	return 0;
}

static int collect_names(const struct profile_build *b, struct mangled *m)
{
	int rc = 0;

	m->of_row = calloc(b->rows.len + 1, sizeof(*m->of_row));
	if (!m->of_row)
		return -ENOMEM;
	for (size_t i = 0, end; i < b->rows.len && !rc; i = end) {
		const struct profile_row *rows = &b->rows.data[i];
		const struct sym_table *table = b->p->images[rows->image].table;

		end = profile_image_end(b->rows.data, b->rows.len, i);
		if (!table)
			continue;
		free(m->of_sym);
		m->of_sym = calloc(table->nr_syms + 1, sizeof(*m->of_sym));
		rc = m->of_sym ? collect_image(m, rows, end - i, table, m->of_row + i)
			       : -ENOMEM;
	}
	return rc;
}

int profile_name_rows(struct profile_build *b)
{
	CLEANUP(mangled_fini) struct mangled m = { 0 };
	int rc;

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
	for (size_t i = 0; i < b->rows.len && !rc; i++)
		if (m.of_row[i])
			b->rows.data[i].name = b->p->names->name[m.of_row[i] - 1];
	return 0; /* a name broke the demangler: all names stay as they are */
}
