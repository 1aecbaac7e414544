/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/profile/arcs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "opfs/profile/recursion.h"
#include "opfs/profile/stack_sums.h"
#include "opfs/profile/symbols.h"

/*
 * From files of arcs to arcs between rows.  Unlike OProfile, which reads both binaries
 * again for every file, symbol tables are those of the profile; and callers at the very
 * beginning of .text, or in memory without a file, are kept.
 */

/* ---- images */

static bool same_memory(const struct spec_image *a, const struct spec_image *b)
{
	return a->kind == SPEC_IMAGE_ANON && b->kind == SPEC_IMAGE_ANON &&
	       a->tgid == b->tgid && a->start == b->start && a->end == b->end;
}

/*
 * operf calls the memory at an arc's end "anon" whatever it is, even "[vdso]": it stands
 * for the image that flat files have of the same memory, if there is only one.
 */
static uint32_t called_in_flat_files(const struct profile *p, uint32_t image)
{
	const struct spec_image *name = &p->cat->images[image].name;
	uint32_t found = image;

	if (name->kind != SPEC_IMAGE_ANON || p->images[image].used ||
	    strcmp(name->name, "anon") != 0)
		return image;
	for (uint32_t i = 0; i < p->cat->nr_images; i++) {
		if (!p->images[i].used || !same_memory(&p->cat->images[i].name, name))
			continue;
		if (found != image)
			return image;
		found = i;
	}
	return found;
}

void profile_join_anonymous(struct profile_build *b)
{
	struct profile *p = b->p;

	for (size_t i = 0; i < p->nr_arc_files; i++) {
		struct profile_arc_file *f = &b->arc_files[i];

		f->caller = called_in_flat_files(p, f->caller);
		f->callee = called_in_flat_files(p, f->callee);
	}
	for (size_t i = 0; i < p->nr_arc_files; i++) {
		p->images[b->arc_files[i].caller].used = true;
		p->images[b->arc_files[i].callee].used = true;
	}
}

/* ---- one end of the arcs of a file */

struct end {
	const struct sym_table *table; /* NULL: the image is shown as itself */
	uint64_t base;                 /* what keys are counted from */
	uint32_t app, image;
	uint32_t *rows; /* of each slot: 1 + row, or 0 */
};

/* Its symbols, the functions that are inlined in it, and all other code. */
static size_t nr_slots(const struct profile_build *b, uint32_t image)
{
	const struct sym_table *table = b->p->images[image].table;

	return (table ? table->nr_syms : 0) + (b->inlined ? b->inlined[image].nr : 0) + 1;
}

static uint64_t offset_of(const struct end *e, uint64_t key)
{
	return key + e->base;
}

/* ---- rows by application, image and symbol */

struct arcs {
	struct profile_build *b;
	size_t nr_old;        /* rows with samples come first */
	struct map_u64 pairs; /* application and image -> index into @rows */
	VEC(uint32_t *) rows; /* of every slot of such a pair: 1 + row, or 0 */
	struct map_u64 arcs;  /* caller and callee -> index into b->arcs */
	struct end caller, callee;
	uint32_t class;
};

static void arcs_fini(struct arcs *a)
{
	map_u64_fini(&a->pairs);
	map_u64_fini(&a->arcs);
	vec_for(&a->rows, rows)
		free(*rows);
	vec_fini(&a->rows);
}

static uint64_t join(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

static size_t slot_of(const struct profile_build *b, uint32_t image,
		      const struct sym *sym)
{
	const struct sym_table *table = b->p->images[image].table;

	if (!sym)
		return nr_slots(b, image) - 1;
	if (sym->flags & SYM_INLINED)
		return (table ? table->nr_syms : 0) +
		       (size_t)(sym - b->inlined[image].syms);
	return (size_t)(sym - table->syms);
}

static int compare_places(const struct profile_row *a, const struct profile_row *b)
{
	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	return a->app < b->app ? -1 : a->app > b->app;
}

/* Rows with samples, which are sorted, are known from the beginning. */
static void note_rows(const struct arcs *a, const struct profile_row *like,
		      uint32_t *rows)
{
	const struct profile_build *b = a->b;
	size_t at = 0, end = a->nr_old;

	while (at < end) {
		size_t mid = at + (end - at) / 2;

		if (compare_places(&b->rows.data[mid], like) < 0)
			at = mid + 1;
		else
			end = mid;
	}
	for (; at < a->nr_old && !compare_places(&b->rows.data[at], like); at++)
		rows[slot_of(b, like->image, b->rows.data[at].sym)] = (uint32_t)at + 1;
}

/* The rows of an application's image by slot; NULL: no memory. */
static uint32_t *rows_of_pair(struct arcs *a, uint32_t app, uint32_t image)
{
	const struct profile_row like = { .app = app, .image = image };
	uint64_t at;
	uint32_t *rows;

	if (map_u64_get(&a->pairs, join(app, image), &at))
		return a->rows.data[at];
	rows = calloc(nr_slots(a->b, image), sizeof(*rows));
	if (!rows || vec_push(&a->rows, rows)) {
		free(rows);
		return NULL;
	}
	if (map_u64_set(&a->pairs, join(app, image), a->rows.len - 1))
		return NULL;
	note_rows(a, &like, rows);
	return rows;
}

/* @app: what samples in @image are filed under */
static int enter_end(struct arcs *a, struct end *e, uint32_t app, uint32_t image)
{
	e->app = profile_app_of(a->b, app, image);
	e->image = image;
	e->table = a->b->p->images[image].table;
	e->base = e->table ? e->table->text_off : 0;
	e->rows = rows_of_pair(a, e->app, image);
	return e->rows ? 0 : -ENOMEM;
}

/* @sym: of @e's image, or NULL */
static int row_of_symbol(struct arcs *a, const struct end *e, const struct sym *sym,
			 uint32_t *out)
{
	struct profile_place at = { .app = e->app, .image = e->image, .sym = sym };
	uint32_t *row = &e->rows[slot_of(a->b, e->image, sym)];

	if (!*row) {
		if (!profile_add_row(a->b, &at))
			return -ENOMEM;
		*row = (uint32_t)a->b->rows.len;
	}
	*out = *row - 1;
	return 0;
}

static int find_row(struct arcs *a, const struct end *e, uint64_t key, uint32_t *out)
{
	const struct sym *sym = e->table ? sym_find(e->table, offset_of(e, key)) : NULL;

	return row_of_symbol(a, e, sym, out);
}

static int count_arc(struct arcs *a, uint32_t caller, uint32_t callee, uint64_t value)
{
	struct profile_build *b = a->b;
	struct profile_arc arc = { .caller = caller, .callee = callee };
	uint64_t at;

	if (!map_u64_get(&a->arcs, join(caller, callee), &at)) {
		if (b->arcs.len == PROFILE_MAX_ARCS)
			return err_set(b->err, -E2BIG,
				       "more than %u different calls: choose a part with "
				       "image: or event:",
				       PROFILE_MAX_ARCS);
		at = b->arcs.len;
		arc.samples = arena_calloc(&b->p->arena, b->p->nr_classes,
					   sizeof(*arc.samples));
		if (!arc.samples || map_u64_set(&a->arcs, join(caller, callee), at) ||
		    vec_push(&b->arcs, arc))
			return -ENOMEM;
	}
	b->arcs.data[at].samples[a->class] += value;
	return 0;
}

static int count_nodes(void *ctx, const struct spec_sample_node *nodes, size_t nr)
{
	struct arcs *a = ctx;
	uint32_t caller, callee;
	int rc = 0;

	for (size_t i = 0; i < nr && !rc; i++) {
		if (!nodes[i].value)
			continue;
		if (find_row(a, &a->caller, nodes[i].key >> 32, &caller) ||
		    find_row(a, &a->callee, (uint32_t)nodes[i].key, &callee))
			return -ENOMEM;
		rc = count_arc(a, caller, callee, nodes[i].value);
	}
	return rc ? rc : viewer_gone(a->b->v) ? profile_interrupted(a->b) : 0;
}

static int count_file(struct arcs *a, const struct profile_arc_file *f)
{
	struct profile_build *b = a->b;
	struct err why = { 0 };
	int rc = 0;

	if (enter_end(a, &a->caller, f->file->app, f->caller) ||
	    enter_end(a, &a->callee, f->file->app, f->callee))
		return profile_no_memory(b);
	a->caller.base += f->caller_base;
	a->callee.base += f->callee_base;
	a->class = f->class;
	rc = profile_read_nodes(b->p->cat, f->file, count_nodes, a, &why);
	if (rc == -ENOMEM)
		return profile_no_memory(b);
	return rc ? rc : profile_note_bad(b, f->file, &why);
}

/* ---- stacks */

/* Of each frame the one that called it, skipping those that are none; 0: none is known.
 * NULL: out of memory. */
static uint32_t *find_callers(const struct profile_stacks *s)
{
	uint32_t *caller = calloc(s->nr_frames + 1, sizeof(*caller));

	for (size_t i = 1; caller && i < s->nr_frames; i++) {
		uint32_t parent = s->frames[i].parent;

		caller[i] = s->frames[parent].image == CATALOG_NO_IMAGE ? caller[parent]
									: parent;
	}
	return caller;
}

struct stack_arcs {
	struct arcs *a;
	const struct profile_stack_file *file;
	uint8_t *again;   /* frames whose row is that of one of their callers */
	uint32_t *caller; /* of each frame */
};

static void stack_arcs_fini(struct stack_arcs *t)
{
	free(t->again);
	free(t->caller);
}

/* Those without a symbol are one row in each image, though entries tell them apart. */
static void number_funcs(const struct profile_stacks *s, uint32_t *of_func)
{
	const struct profile_func *nameless = NULL;

	for (uint32_t i = 0; i < s->nr_funcs; i++) {
		const struct profile_func *f = &s->funcs[i];

		if (!f->sym && (!nameless || nameless->image != f->image))
			nameless = f;
		of_func[i] = f->sym ? i : (uint32_t)(nameless - s->funcs);
	}
}

static int find_again(struct stack_arcs *t, const struct profile_stacks *s)
{
	CLEANUP(free_ptr) uint32_t *of_func = calloc(s->nr_funcs + 1, sizeof(*of_func));

	t->again = calloc(s->nr_frames + 1, 1);
	t->caller = find_callers(s);
	if (!of_func || !t->again || !t->caller)
		return -ENOMEM;
	number_funcs(s, of_func);
	return recursion_find(s, of_func, s->nr_funcs, t->again);
}

static int row_of_frame(struct stack_arcs *t, struct end *e, uint32_t frame,
			uint32_t *out)
{
	const struct profile_build *b = t->a->b;
	const struct profile_frame *f = &b->stacks->frames[frame];
	uint32_t app = profile_frame_app(t->file, f, b->p->cat);

	if (enter_end(t->a, e, app, f->image))
		return -ENOMEM;
	return row_of_symbol(t->a, e, b->stacks->funcs[f->func].sym, out);
}

/* Counts what is below a frame for its function, and the call that made it. */
static int count_call(void *ctx, uint32_t frame, uint64_t samples)
{
	struct stack_arcs *t = ctx;
	struct profile_build *b = t->a->b;
	uint32_t from = t->caller[frame], caller, callee;

	if (b->stacks->frames[frame].image == CATALOG_NO_IMAGE)
		return 0;
	if (row_of_frame(t, &t->a->callee, frame, &callee))
		return -ENOMEM;
	if (!t->again[frame])
		profile_children(&b->rows.data[callee], b->p->nr_classes)[t->a->class] +=
			samples;
	if (!from)
		return 0;
	if (row_of_frame(t, &t->a->caller, from, &caller))
		return -ENOMEM;
	return count_arc(t->a, caller, callee, samples);
}

static int count_stacks(struct arcs *a)
{
	CLEANUP(stack_sums_fini) struct stack_sums sums = { 0 };
	const struct profile_stacks *s = a->b->stacks;
	CLEANUP(stack_arcs_fini) struct stack_arcs t = { .a = a };
	int rc = 0;

	if (find_again(&t, s) || stack_sums_init(&sums, s))
		return profile_no_memory(a->b);
	for (size_t i = 0, end; i < s->nr_stacks && !rc; i = end) {
		end = profile_stacks_end(s, i, &t.file);
		a->class = t.file->class;
		rc = stack_sums_each(&sums, i, end, count_call, &t);
		if (!rc && viewer_gone(a->b->v))
			rc = profile_interrupted(a->b);
	}
	return rc == -ENOMEM ? profile_no_memory(a->b) : rc;
}

/* ---- the new rows are merged into their places */

static int compare_new(const void *x, const void *y, void *ctx)
{
	const struct profile_row *rows = ctx;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	int order = compare_places(&rows[a], &rows[b]);

	return order ? order : a < b ? -1 : a > b;
}

static int compare_arcs(const void *x, const void *y)
{
	const struct profile_arc *a = x, *b = y;

	if (a->caller != b->caller)
		return a->caller < b->caller ? -1 : 1;
	return a->callee < b->callee ? -1 : a->callee > b->callee;
}

/* Rows [0, nr_old) are sorted; @moved: the new index of each row. */
static int order_rows(struct profile_build *b, size_t nr_old, uint32_t *moved)
{
	CLEANUP(free_ptr) uint32_t *added = NULL;
	struct profile_row *rows = b->rows.data, *all;
	size_t nr_new = b->rows.len - nr_old, old = 0, new = 0;

	added = calloc(nr_new + 1, sizeof(*added));
	all = calloc(b->rows.len + 1, sizeof(*all));
	if (!added || !all) {
		free(all);
		return -ENOMEM;
	}
	for (size_t i = 0; i < nr_new; i++)
		added[i] = (uint32_t)(nr_old + i);
	qsort_r(added, nr_new, sizeof(*added), compare_new, rows);
	for (size_t i = 0; i < b->rows.len; i++) {
		bool take_new =
			old == nr_old || (new < nr_new &&compare_places(&rows[added[new]],
									&rows[old]) < 0);
		size_t from = take_new ? added[new ++] : old++;

		all[i] = rows[from];
		moved[from] = (uint32_t)i;
	}
	b->rows.cap = b->rows.len + 1;
	b->rows.data = all;
	free(rows);
	return 0;
}

static int order(struct profile_build *b, size_t nr_old)
{
	CLEANUP(free_ptr) uint32_t *moved = calloc(b->rows.len + 1, sizeof(*moved));

	if (!moved || order_rows(b, nr_old, moved))
		return profile_no_memory(b);
	vec_for(&b->arcs, arc) {
		arc->caller = moved[arc->caller];
		arc->callee = moved[arc->callee];
	}
	if (b->arcs.len)
		qsort(b->arcs.data, b->arcs.len, sizeof(*b->arcs.data), compare_arcs);
	return 0;
}

int profile_read_arcs(struct profile_build *b)
{
	CLEANUP(arcs_fini) struct arcs a = { .b = b, .nr_old = b->rows.len };
	int rc = 0;

	for (size_t i = 0; i < b->p->nr_arc_files && !rc; i++)
		rc = count_file(&a, &b->arc_files[i]);
	if (!rc && b->stacks)
		rc = count_stacks(&a);
	return rc ? rc : order(b, a.nr_old);
}

/* ---- arcs as the files have them */

struct walk {
	const struct viewer *v;
	int (*visit)(void *ctx, const struct profile_raw_arc *arc);
	void *ctx;
	struct profile_raw_arc arc;
	uint64_t from_off, to_off; /* what the keys are counted from */
	bool gone;
};

static int walk_nodes(void *ctx, const struct spec_sample_node *nodes, size_t nr)
{
	struct walk *w = ctx;
	int rc = 0;

	for (size_t i = 0; i < nr && !rc; i++) {
		if (!nodes[i].value)
			continue;
		w->arc.from = (nodes[i].key >> 32) + w->from_off;
		w->arc.to = (uint32_t)nodes[i].key + w->to_off;
		w->arc.value = nodes[i].value;
		rc = w->visit(w->ctx, &w->arc);
	}
	w->gone = viewer_gone(w->v);
	return rc ? rc : w->gone ? -EINTR : 0;
}

static uint64_t text_off(const struct profile *p, uint32_t image)
{
	return p->images[image].table ? p->images[image].table->text_off : 0;
}

/* Of stacks: the call in a caller, and what it called. */
struct stack_walk {
	const struct profile *p;
	const struct profile_stack_file *file;
	const uint32_t *caller; /* of each frame */
	int (*visit)(void *ctx, const struct profile_raw_arc *arc);
	void *ctx;
};

static int visit_call(void *ctx, uint32_t frame, uint64_t samples)
{
	const struct stack_walk *w = ctx;
	const struct profile_stacks *s = w->p->stacks;
	const struct profile_frame *to = &s->frames[frame];
	const struct profile_frame *from = &s->frames[w->caller[frame]];
	struct profile_raw_arc arc = { .caller = from->image,
				       .callee = to->image,
				       .class = w->file->class,
				       .value = samples };

	if (from->image == CATALOG_NO_IMAGE || to->image == CATALOG_NO_IMAGE)
		return 0;
	arc.app = profile_frame_app(w->file, from, w->p->cat);
	arc.from = profile_frame_off(w->p, from);
	arc.to = profile_frame_off(w->p, to);
	return w->visit(w->ctx, &arc);
}

static int each_call(const struct profile *p, const struct viewer *v,
		     int (*visit)(void *ctx, const struct profile_raw_arc *arc),
		     void *ctx)
{
	CLEANUP(stack_sums_fini) struct stack_sums sums = { 0 };
	CLEANUP(free_ptr) uint32_t *caller = find_callers(p->stacks);
	struct stack_walk w = { .p = p, .caller = caller, .visit = visit, .ctx = ctx };
	int rc = caller ? stack_sums_init(&sums, p->stacks) : -ENOMEM;

	for (size_t i = 0, end; i < p->stacks->nr_stacks && !rc; i = end) {
		end = profile_stacks_end(p->stacks, i, &w.file);
		rc = stack_sums_each(&sums, i, end, visit_call, &w);
		if (!rc && viewer_gone(v))
			rc = -EINTR;
	}
	return rc;
}

int profile_each_arc(const struct profile *p, const struct viewer *v,
		     int (*visit)(void *ctx, const struct profile_raw_arc *arc),
		     void *ctx, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < p->nr_arc_files && !rc; i++) {
		const struct profile_arc_file *f = &p->arc_files[i];
		struct err why = { 0 };
		struct walk w = {
			.v = v,
			.visit = visit,
			.ctx = ctx,
			.arc = { .app = f->file->app,
				 .caller = f->caller,
				 .callee = f->callee,
				 .class = f->class },
			.from_off = text_off(p, f->caller) + f->caller_base,
			.to_off = text_off(p, f->callee) + f->callee_base,
		};

		rc = profile_read_nodes(p->cat, f->file, walk_nodes, &w, &why);
		if (w.gone)
			rc = -EINTR;
	}
	if (!rc && p->stacks)
		rc = each_call(p, v, visit, ctx);
	if (rc == -EINTR)
		return err_set(err, rc, "interrupted: nobody waits for this any more");
	return rc == -ENOMEM ? err_set(err, rc, "out of memory while reading arcs") : rc;
}
