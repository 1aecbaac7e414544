/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/profile/inlines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "opfs/profile/arcs.h"
#include "opfs/profile/build.h"
#include "opfs/profile/lines.h"
#include "opfs/profile/stack_choice.h"
#include "opfs/profile/stacks.h"
#include "opfs/profile/symbols.h"

/* Whatever is done for each frame of a stack must end: in one that is deeper, only the
 * innermost function of each place is a frame. */
enum { MAX_DEPTH = 8192 };
#define MAX_FRAMES (32u << 20)

/* Rows and frames that lie in inlined code are divided: the rest stays as it is. */
struct inlining {
	struct profile_build b;
	struct profile *from;
	const struct profile_inline_query *q;
	struct lines *lines;             /* of all places at hand; the profile's */
	struct profile_inlined *inlined; /* of each image; b.inlined */
	uint32_t **of_inline; /* of each image, of each struct sym_inline: the function */
	struct map_u64 known; /* name of a function -> its index in its image */
	size_t *nr_own;       /* of each image: so many functions have samples */
	uint32_t *first_func; /* of each image: where its functions begin in funcs */
	const char **names;   /* of all of them, in that order: demangled */
	const char **in_rows; /* the same as rows have them */
	size_t nr_names;
	uint8_t *chosen; /* of each stack */
	uint8_t *needed; /* of each frame */
	VEC(struct profile_frame) frames;
	VEC(uint16_t) depths; /* of each of these */
};

static void inlining_fini(struct inlining *x)
{
	for (size_t i = 0; x->of_inline && i < x->from->cat->nr_images; i++)
		free(x->of_inline[i]);
	free(x->of_inline);
	map_u64_fini(&x->known);
	free(x->nr_own);
	free(x->first_func);
	free(x->names);
	free(x->in_rows);
	free(x->chosen);
	free(x->needed);
	vec_fini(&x->frames);
	vec_fini(&x->depths);
	vec_fini(&x->b.rows);
	vec_fini(&x->b.arcs);
	profile_put(x->b.p);
}

/* ---- which functions are inlined where */

/* The function of a struct sym_inline at an offset, which may be its first one. */
static int note_function(struct inlining *x, uint32_t image, uint32_t at, uint64_t off)
{
	const struct sym_inline *inlined = &lines_image(x->lines, image)->inlines[at];
	struct profile_inlined *in = &x->inlined[image];
	uint64_t key = (uintptr_t)inlined->name, index;
	struct sym *sym;

	/* texts are there once */
	if (!map_u64_get(&x->known, key, &index)) {
		index = in->nr++;
		in->syms[index] = (struct sym){
			.off = UINT64_MAX,
			.flags = SYM_INLINED,
		};
		sym_set_name(&in->syms[index],
			     *inlined->name ? inlined->name : "[unnamed]");
		if (map_u64_set(&x->known, key, index))
			return -ENOMEM;
	}
	x->of_inline[image][at] = (uint32_t)index;
	sym = &in->syms[index];
	if (index < x->nr_own[image] || off >= sym->off)
		return 0;
	sym->off = sym->vma = off;
	if (x->from->images[image].table)
		sym_vma(x->from->images[image].table, off, &sym->vma);
	return 0;
}

/* @own: only the innermost one, whose samples are there */
static int note_place(struct inlining *x, uint32_t image, uint64_t off, bool own)
{
	const struct sym_lines *of = lines_image(x->lines, image);
	const struct sym_line *row = of ? sym_line_find(of, off) : NULL;
	uint32_t at = row ? row->inlined : SYM_LINE_NONE;
	int rc = 0;

	for (; at != SYM_LINE_NONE && !rc; at = of->inlines[at].parent) {
		rc = note_function(x, image, at, off);
		if (own)
			break;
	}
	return rc;
}

static int note_rows(struct inlining *x, bool own)
{
	int rc = 0;

	for (size_t i = 0; i < x->from->nr_rows && !rc; i++) {
		const struct profile_row *row = &x->from->rows[i];

		for (size_t k = 0; k < row->nr_hits && !rc; k++)
			rc = note_place(x, row->image, row->hits[k], own);
	}
	return rc;
}

static int note_frames(struct inlining *x)
{
	const struct profile_stacks *s = x->from->stacks;
	int rc = 0;

	for (size_t i = 1; x->needed && i < s->nr_frames && !rc; i++)
		if (x->needed[i] && s->frames[i].image != CATALOG_NO_IMAGE)
			rc = note_place(x, s->frames[i].image,
					profile_frame_off(x->from, &s->frames[i]), false);
	return rc;
}

/* A function begins at the first sample in it; if it has none, at the first place that is
 * asked for: so that does not depend on what is asked for. */
static int find_functions(struct inlining *x)
{
	struct arena *arena = &x->b.p->arena;
	size_t nr_images = x->from->cat->nr_images;
	int rc;

	x->inlined = arena_calloc(arena, nr_images + 1, sizeof(*x->inlined));
	x->of_inline = calloc(nr_images + 1, sizeof(*x->of_inline));
	x->first_func = calloc(nr_images + 1, sizeof(*x->first_func));
	x->nr_own = calloc(nr_images + 1, sizeof(*x->nr_own));
	if (!x->inlined || !x->of_inline || !x->first_func || !x->nr_own)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr_images; i++) {
		const struct sym_lines *of = lines_image(x->lines, i);

		if (!of || !of->nr_inlines)
			continue;
		x->inlined[i].syms =
			arena_calloc(arena, of->nr_inlines, sizeof(struct sym));
		x->of_inline[i] = calloc(of->nr_inlines, sizeof(uint32_t));
		if (!x->inlined[i].syms || !x->of_inline[i])
			return -ENOMEM;
	}
	rc = note_rows(x, true);
	for (uint32_t i = 0; i < nr_images; i++)
		x->nr_own[i] = x->inlined[i].nr;
	rc = rc ? rc : note_rows(x, false);
	rc = rc ? rc : note_frames(x);
	for (uint32_t i = 0; i < nr_images; i++) {
		x->first_func[i] = (uint32_t)x->nr_names;
		x->nr_names += x->inlined[i].nr;
	}
	x->b.inlined = x->inlined;
	return rc;
}

/* Functions inlined at an offset, the innermost first; returns how many there are. */
static size_t chain_at(const struct inlining *x, uint32_t image, uint64_t off,
		       uint32_t chain[PROFILE_MAX_INLINED])
{
	const struct sym_lines *of = lines_image(x->lines, image);
	const struct sym_line *row = of ? sym_line_find(of, off) : NULL;
	uint32_t at = row ? row->inlined : SYM_LINE_NONE;
	size_t nr = 0;

	for (; at != SYM_LINE_NONE && nr < PROFILE_MAX_INLINED;
	     at = of->inlines[at].parent)
		chain[nr++] = x->of_inline[image][at];
	return nr;
}

/* ---- names */

static int keep_names(struct inlining *x, const char *const *shown)
{
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };
	struct arena *arena = &x->b.p->arena;

	for (size_t i = 0; i < x->nr_names; i++) {
		strbuf_reset(&name);
		strbuf_puts(&name, shown[i]);
		x->names[i] = arena_strdup(arena, strbuf_str(&name));
		strbuf_puts(&name, PROFILE_INLINED);
		x->in_rows[i] = arena_strdup(arena, strbuf_str(&name));
		if (strbuf_error(&name) || !x->names[i] || !x->in_rows[i])
			return -ENOMEM;
	}
	return 0;
}

/* A name that breaks the demangler leaves all as they are. */
static int find_names(struct inlining *x)
{
	CLEANUP(free_ptr) struct sym_names *shown = NULL;
	size_t nr = 0;
	int rc = 0;

	x->names = calloc(x->nr_names + 1, sizeof(*x->names));
	x->in_rows = calloc(x->nr_names + 1, sizeof(*x->in_rows));
	if (!x->names || !x->in_rows)
		return -ENOMEM;
	for (size_t i = 0; i < x->from->cat->nr_images; i++)
		for (size_t k = 0; k < x->inlined[i].nr; k++)
			x->names[nr++] = sym_name(&x->inlined[i].syms[k]);
	if (nr && x->q->syms)
		rc = sym_server_demangle(sym_cache_server(x->q->syms), x->names, nr,
					 x->q->demangle, x->q->v, &shown, NULL);
	if (rc == -EINTR || rc == -ENOMEM)
		return rc;
	return keep_names(x, shown ? (const char *const *)shown->name : x->names);
}

/* ---- rows */

/* The row of what counts a hit: an inlined function, or what @row is of.  NULL: no
 * memory. */
static struct profile_row *row_of(struct inlining *x, const struct profile_row *row,
				  const uint32_t *inlined, struct map_u64 *known)
{
	struct profile_place at = { row->app, row->image, row->sym };
	struct profile_row *out;
	uint64_t index;

	if (inlined)
		at.sym = &x->inlined[row->image].syms[*inlined];
	if (map_u64_get(known, (uintptr_t)at.sym, &index))
		return &x->b.rows.data[index];
	out = profile_add_row(&x->b, &at);
	if (!out || map_u64_set(known, (uintptr_t)at.sym, x->b.rows.len - 1))
		return NULL;
	out->name =
		inlined ? x->in_rows[x->first_func[row->image] + *inlined] : row->name;
	return out;
}

static int divide_row(struct inlining *x, const struct profile_row *row,
		      struct map_u64 *known)
{
	size_t nr_classes = x->from->nr_classes;
	uint32_t chain[PROFILE_MAX_INLINED];
	struct profile_row *to;

	/* an image that is shown as itself; a function that only called others */
	if (!row->nr_hits) {
		to = row_of(x, row, NULL, known);
		if (to)
			profile_add_samples(to->samples, row->samples, nr_classes);
		return to ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < row->nr_hits; i++) {
		size_t nr = chain_at(x, row->image, row->hits[i], chain);

		to = row_of(x, row, nr ? chain : NULL, known);
		if (!to)
			return -ENOMEM;
		profile_add_samples(to->samples, profile_hit_samples(row, i, nr_classes),
				    nr_classes);
	}
	return 0;
}

static int divide_rows(struct inlining *x)
{
	const struct profile_row *rows = x->from->rows;
	size_t nr = x->from->nr_rows, i = 0;
	int rc = 0;

	while (i < nr && !rc) {
		CLEANUP(map_u64_fini) struct map_u64 known = { 0 };
		size_t first = i;

		for (; i < nr && rows[i].image == rows[first].image &&
		       rows[i].app == rows[first].app && !rc;
		     i++)
			if (!rows[i].aside)
				rc = divide_row(x, &rows[i], &known);
		if (!rc && viewer_gone(x->q->v))
			rc = -EINTR;
	}
	return rc;
}

/* What each function has with all that it called: of stacks that are not chosen, too, as
 * in the profile that rows were chosen from.  Rows of others are only ends of these. */
static int add_children(struct inlining *x)
{
	bool some = x->from->parent;
	int rc;

	vec_for(&x->b.rows, row)
		row->aside = some;
	rc = profile_read_arcs(&x->b);
	rc = rc ? rc : profile_name_from_stacks(&x->b);
	vec_for(&x->b.rows, row) {
		row->aside = some && !row->aside;
		if (row->sym && row->sym->flags & SYM_INLINED)
			row->name = x->in_rows[x->first_func[row->image] +
					       (row->sym - x->inlined[row->image].syms)];
	}
	return rc;
}

/* ---- stacks */

static int choose_stacks(struct inlining *x)
{
	CLEANUP(stack_choice_fini) struct stack_choice choice = { 0 };
	const struct profile_stacks *s = x->from->stacks;
	bool all = profile_has_arcs(x->q->needs);

	x->chosen = calloc(s->nr_stacks + 1, 1);
	x->needed = calloc(s->nr_frames + 1, 1);
	if (!x->chosen || !x->needed || stack_choice_init(&choice, x->from))
		return -ENOMEM;
	for (size_t i = 0; i < s->nr_stacks; i++) {
		uint32_t at = s->stacks[i].frame;

		x->chosen[i] = all || stack_choice_has(&choice, &s->stacks[i]);
		for (; x->chosen[i] && at && !x->needed[at]; at = s->frames[at].parent)
			x->needed[at] = 1;
	}
	return 0;
}

static int push_frame(struct inlining *x, const struct profile_frame *f)
{
	uint16_t depth = (uint16_t)(x->depths.data[f->parent] + 1);

	if (x->frames.len >= MAX_FRAMES)
		return -E2BIG;
	return vec_push(&x->frames, *f) || vec_push(&x->depths, depth) ? -ENOMEM : 0;
}

/* A frame, and those that are inlined into it behind each other. */
static int divide_frame(struct inlining *x, struct profile_frame f)
{
	const struct profile_stacks *s = x->from->stacks;
	uint32_t chain[PROFILE_MAX_INLINED], first = 0;
	size_t nr = 0;
	int rc = 0;

	if (f.image != CATALOG_NO_IMAGE) {
		nr = chain_at(x, f.image, profile_frame_off(x->from, &f), chain);
		first = (uint32_t)s->nr_funcs + x->first_func[f.image];
	}
	if (nr && x->depths.data[f.parent] + nr >= MAX_DEPTH) {
		f.func = first + chain[0];
		return push_frame(x, &f);
	}
	for (rc = push_frame(x, &f); nr && !rc; rc = push_frame(x, &f)) {
		f.parent = (uint32_t)x->frames.len - 1;
		f.func = first + chain[--nr];
		f.inlined = true;
	}
	return rc;
}

/* @to: of each frame where it went */
static int divide_frames(struct inlining *x, uint32_t *to)
{
	const struct profile_stacks *s = x->from->stacks;
	const struct profile_frame none = { .image = CATALOG_NO_IMAGE };
	int rc = 0;

	if (vec_push(&x->frames, none) || vec_push(&x->depths, 0))
		return -ENOMEM;
	for (size_t i = 1; i < s->nr_frames && !rc; i++) {
		struct profile_frame f = s->frames[i];

		if (!x->needed[i])
			continue;
		f.parent = to[f.parent];
		rc = divide_frame(x, f);
		to[i] = (uint32_t)x->frames.len - 1;
		if (!rc && i % 4096 == 0 && viewer_gone(x->q->v))
			rc = -EINTR;
	}
	return rc;
}

static struct profile_func *all_funcs(struct inlining *x)
{
	const struct profile_stacks *s = x->from->stacks;
	struct profile_func *out =
		arena_calloc(&x->b.p->arena, s->nr_funcs + x->nr_names + 1, sizeof(*out));
	size_t nr = s->nr_funcs;

	if (!out)
		return NULL;
	memcpy(out, s->funcs, nr * sizeof(*out));
	for (uint32_t i = 0; i < x->from->cat->nr_images; i++)
		for (size_t k = 0; k < x->inlined[i].nr; k++, nr++)
			out[nr] = (struct profile_func){
				.image = i,
				.sym = &x->inlined[i].syms[k],
				.name = x->names[nr - s->nr_funcs],
				.kind = FRAME_INLINED,
			};
	return out;
}

static int divide_stacks(struct inlining *x)
{
	const struct profile_stacks *s = x->from->stacks;
	CLEANUP(free_ptr) uint32_t *to = calloc(s->nr_frames + 1, sizeof(*to));
	struct arena *arena = &x->b.p->arena;
	struct profile_stacks *out = arena_calloc(arena, 1, sizeof(*out));
	struct profile_stack *stacks =
		arena_calloc(arena, s->nr_stacks + 1, sizeof(*stacks));
	int rc = to && out && stacks ? divide_frames(x, to) : -ENOMEM;

	if (rc)
		return rc;
	*out = (struct profile_stacks){ .files = s->files,
					.nr_files = s->nr_files,
					.stacks = stacks,
					.nr_frames = x->frames.len,
					.nr_funcs = s->nr_funcs + x->nr_names };
	for (size_t i = 0; i < s->nr_stacks; i++) {
		if (!x->chosen[i])
			continue;
		stacks[out->nr_stacks] = s->stacks[i];
		stacks[out->nr_stacks++].frame = to[s->stacks[i].frame];
	}
	out->frames = (void *)arena_memdup(arena, x->frames.data,
					   x->frames.len * sizeof(*out->frames));
	out->funcs = all_funcs(x);
	x->b.p->stacks = x->b.stacks = out;
	return out->frames && out->funcs ? 0 : -ENOMEM;
}

/* ---- the whole */

static int load_lines(struct inlining *x)
{
	bool lines = (x->q->needs & PROFILE_INLINES_LINES) == PROFILE_INLINES_LINES;
	const struct lines_query q = { .p = x->from,
				       .what = LINES_OF_PLACES,
				       .frames = x->needed,
				       .flags = SYM_LINES_INLINES |
						(lines ? 0 : SYM_LINES_ONLY_INLINES),
				       .syms = x->q->syms,
				       .v = x->q->v };
	int rc = 0;

	if (!x->q->lines)
		rc = lines_load(&q, &x->b.p->inlines, x->b.err);
	x->lines = x->b.p->inlines;
	return rc;
}

static int divide(struct inlining *x)
{
	bool stacks = profile_has_stacks(x->q->needs) && x->from->stacks;
	int rc = stacks ? choose_stacks(x) : 0;

	rc = rc ? rc : load_lines(x);
	rc = rc ? rc : find_functions(x);
	rc = rc ? rc : find_names(x);
	if (!rc && stacks)
		rc = divide_stacks(x);
	rc = rc ? rc : divide_rows(x);
	if (!rc && stacks && profile_has_arcs(x->q->needs))
		rc = add_children(x);
	return rc;
}

/* What is the same. */
static struct profile *like(struct profile *from, unsigned needs)
{
	struct profile *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->refs = 1;
	p->loaded = needs;
	p->merge_lib = from->merge_lib;
	p->merge_kernel = from->merge_kernel;
	p->axis = from->axis;
	p->whole = profile_get(from);
	p->cat = catalog_get(from->cat);
	p->classes = from->classes;
	p->nr_classes = from->nr_classes;
	p->pairs = from->pairs;
	p->nr_pairs = from->nr_pairs;
	p->images = from->images;
	p->selected = from->selected;
	p->nr_selected = from->nr_selected;
	p->session = from->session;
	p->bad = from->bad;
	p->nr_bad = from->nr_bad;
	p->until = from->until;
	return p;
}

static int take(struct inlining *x, struct profile **out)
{
	struct profile *p = x->b.p;

	p->rows = (void *)arena_memdup(&p->arena, x->b.rows.data,
				       x->b.rows.len * sizeof(*p->rows));
	if (!p->rows)
		return -ENOMEM;
	p->nr_rows = x->b.rows.len;
	p->bytes = sizeof(*p) + p->arena.total + lines_bytes(p->inlines);
	*out = TAKE(x->b.p);
	return 0;
}

int profile_inline(struct profile *from, const struct profile_inline_query *q,
		   struct profile **out, struct err *err)
{
	const struct profile_query as = { .cat = from->cat,
					  .merge_lib = from->merge_lib,
					  .merge_kernel = from->merge_kernel };
	CLEANUP(inlining_fini)
	struct inlining x = { .b = { .q = &as, .v = q->v, .err = err },
			      .from = from,
			      .q = q };
	int rc;

	x.b.kernel_app = (uint32_t)from->cat->nr_images - 1;
	x.b.p = like(from, q->needs);
	if (x.b.p)
		x.b.p->inlines = q->lines;
	else
		lines_free(q->lines);
	rc = x.b.p ? divide(&x) : -ENOMEM;
	rc = rc ? rc : take(&x, out);
	if (rc == -EINTR)
		return profile_interrupted(&x.b);
	if (rc == -ENOMEM)
		return profile_no_memory(&x.b);
	if (rc == -E2BIG && x.frames.len >= MAX_FRAMES)
		return err_set(err, rc,
			       "with:inlines makes more than %u million frames of these "
			       "stacks: choose a part with image:, event:, calls: or "
			       "through:",
			       MAX_FRAMES >> 20);
	return rc;
}
