/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/profile/funcs.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "libspec/stack/stack_format.h"
#include "opfs/profile/nameless.h"
#include "opfs/profile/stacks.h"

/* From frames to functions: each image's frames are looked up in its table of symbols. */
struct finding {
	struct profile_build *b;
	struct profile_stacks *s;
	VEC(struct profile_func) funcs;
	uint32_t *order; /* frames by image */
	/* of the image at hand: 1 + function of each symbol, then of each entry, then of
	 * the rest, or 0 */
	uint32_t *of_slot;
	enum frame_kind *kinds; /* of each image */
};

static void finding_fini(struct finding *f)
{
	vec_fini(&f->funcs);
	free(f->order);
	free(f->of_slot);
	free(f->kinds);
}

static enum frame_kind kind_of(const struct profile *p, size_t image)
{
	const struct catalog_image *img = &p->cat->images[image];

	if (p->images[image].jit)
		return FRAME_JIT;
	return img->kernel ? FRAME_KERNEL : img->label ? FRAME_MEMORY : FRAME_LIBRARY;
}

static int find_kinds(struct finding *f)
{
	const struct catalog *cat = f->b->p->cat;

	f->kinds = calloc(cat->nr_images + 1, sizeof(*f->kinds));
	if (!f->kinds)
		return -ENOMEM;
	for (size_t i = 0; i < cat->nr_images; i++)
		f->kinds[i] = kind_of(f->b->p, i);
	for (size_t i = 0; i < f->s->nr_files; i++) {
		enum frame_kind *kind = &f->kinds[f->s->files[i].file->app];

		if (*kind == FRAME_LIBRARY)
			*kind = FRAME_PROGRAM;
	}
	return 0;
}

/* Frames of one image one after another, those without an image last. */
static int order_frames(struct finding *f)
{
	size_t nr_images = f->b->p->cat->nr_images, nr = f->s->nr_frames;
	CLEANUP(free_ptr) size_t *at = calloc(nr_images + 2, sizeof(*at));

	f->order = calloc(nr + 1, sizeof(*f->order));
	if (!at || !f->order)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		uint32_t image = f->s->frames[i].image;

		at[(image == CATALOG_NO_IMAGE ? nr_images : image) + 1]++;
	}
	for (size_t i = 0; i < nr_images; i++)
		at[i + 1] += at[i];
	for (size_t i = 0; i < nr; i++) {
		uint32_t image = f->s->frames[i].image;

		f->order[at[image == CATALOG_NO_IMAGE ? nr_images : image]++] =
			(uint32_t)i;
	}
	return 0;
}

static int name_func(const struct profile_build *b, struct profile_func *func)
{
	if (func->sym) {
		func->name = sym_name(func->sym);
		return 0;
	}
	func->name = profile_nameless_func(b, func->image, func->entry);
	func->in_rows = profile_nameless_row(b, func->image);
	return func->name ? 0 : -ENOMEM;
}

/* What the table has at an offset; returns the slot of that. */
static size_t look_up(const struct sym_table *table, uint64_t off,
		      struct profile_func *func)
{
	func->sym = sym_find(table, off);
	if (func->sym)
		return (size_t)(func->sym - table->syms);
	func->entry = sym_entry_find(table, off);
	return table->nr_syms +
	       (func->entry ? (size_t)(func->entry - table->entries) : table->nr_entries);
}

/* A handler of signals returns to the first instruction of a function that called nobody,
 * with no function before it: such an address is no call's. */
static bool is_start(const struct sym_table *table, uint64_t call)
{
	const struct sym *sym = sym_find(table, call + 1);

	return sym && sym->off == call + 1 && !sym_find(table, call);
}

/* Frames order[@first, @end) are of one image. */
static int find_in_image(struct finding *f, size_t first, size_t end)
{
	uint32_t image = f->s->frames[f->order[first]].image;
	const struct sym_table *table = f->b->p->images[image].table;
	size_t nr_slots = table ? table->nr_syms + table->nr_entries : 0;

	free(f->of_slot);
	f->of_slot = calloc(nr_slots + 1, sizeof(*f->of_slot));
	if (!f->of_slot)
		return -ENOMEM;
	for (size_t i = first; i < end; i++) {
		struct profile_frame *frame = &f->s->frames[f->order[i]];
		struct profile_func func = { .image = image, .kind = f->kinds[image] };
		uint32_t *slot = f->of_slot;

		if (table && !(frame->off & SPEC_STACK_EXACT) &&
		    is_start(table, profile_frame_off(f->b->p, frame)))
			frame->off |= SPEC_STACK_EXACT;
		if (table)
			slot += look_up(table, profile_frame_off(f->b->p, frame), &func);
		if (!*slot) {
			if (name_func(f->b, &func) || vec_push(&f->funcs, func))
				return -ENOMEM;
			*slot = (uint32_t)f->funcs.len;
		}
		frame->func = *slot - 1;
	}
	return 0;
}

/* Why a stack ends early, or what cannot be known of a frame. */
static int name_end(struct finding *f, uint64_t why, const char **out)
{
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };
	const char *text = spec_stack_end_text(why);

	if (why == SPEC_STACK_UNKNOWN)
		strbuf_printf(&name, "[%s]", text);
	else if (text)
		strbuf_printf(&name, "[truncated: %s]", text);
	else
		strbuf_puts(&name, "[truncated: for a reason that is not known here]");
	*out = arena_strdup(&f->b->p->arena, strbuf_str(&name));
	return strbuf_error(&name) || !*out ? -ENOMEM : 0;
}

/* Frames from order[@first] on are none.  Whoever writes a table may give any number of
 * reasons: those that nobody knows are one. */
static int find_ends(struct finding *f, size_t first)
{
	uint32_t of[SPEC_STACK_ENDS] = { 0 };

	for (size_t i = first; i < f->s->nr_frames; i++) {
		struct profile_frame *frame = &f->s->frames[f->order[i]];
		uint64_t why = frame->off < SPEC_STACK_ENDS ? frame->off : 0;
		struct profile_func func = { .image = CATALOG_NO_IMAGE,
					     .kind = FRAME_NONE };

		if (!of[why]) {
			if (name_end(f, why, &func.name) || vec_push(&f->funcs, func))
				return -ENOMEM;
			of[why] = (uint32_t)f->funcs.len;
		}
		frame->func = of[why] - 1;
	}
	return 0;
}

static int find_all(struct finding *f)
{
	size_t nr = f->s->nr_frames, first = 0;
	int rc = find_kinds(f);

	rc = rc ? rc : order_frames(f);
	while (!rc && first < nr) {
		uint32_t image = f->s->frames[f->order[first]].image;
		size_t end = first + 1;

		if (image == CATALOG_NO_IMAGE)
			break;
		while (end < nr && f->s->frames[f->order[end]].image == image)
			end++;
		rc = find_in_image(f, first, end);
		first = end;
	}
	return rc ? rc : find_ends(f, first);
}

int profile_find_funcs(struct profile_build *b)
{
	CLEANUP(finding_fini) struct finding f = { .b = b, .s = b->stacks };

	if (!f.s)
		return 0;
	if (find_all(&f))
		return profile_no_memory(b);
	f.s->funcs = (void *)arena_memdup(&b->p->arena, f.funcs.data,
					  f.funcs.len * sizeof(*f.s->funcs));
	f.s->nr_funcs = f.funcs.len;
	return f.s->funcs ? 0 : profile_no_memory(b);
}
