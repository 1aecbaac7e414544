/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/store/waiting.h"

#include <errno.h>

enum {
	MAX_ROWS = 1 << 19,
	MAX_FRAMES = 1 << 19,
	NO_ROOM = UINT32_MAX, /* for a row's stack */
};

/* All of a place, without padding; and of a frame below its caller. */
struct place {
	uint64_t app, image, event, tgid, tid, cpu, at, frame;
};
struct below {
	uint64_t caller, image, off;
};

static struct place place_of(const struct coll_key *k, uint64_t at, uint32_t frame)
{
	return (struct place){
		(uintptr_t)k->app, (uintptr_t)k->image, k->event, (uint64_t)k->tgid,
		(uint64_t)k->tid,  (uint64_t)k->cpu,    at,       frame
	};
}

static bool is_pending(const struct coll_image *img)
{
	return img && coll_image_now(img)->pending;
}

bool coll_waiting_must(const struct coll_key *key, const struct coll_stack *stack)
{
	if (is_pending(key->app) || is_pending(key->image))
		return true;
	for (size_t i = 0; stack && i < stack->nr; i++)
		if (is_pending(stack->frames[i].image))
			return true;
	return false;
}

static void add_up(struct coll_count *to, const struct coll_count *more)
{
	to->weight += more->weight;
	to->samples += more->samples;
	to->hits += more->hits;
}

/* The frame's number; NO_ROOM: it can have none. */
static uint32_t add_frame(struct coll_waiting *w, uint32_t caller,
			  const struct coll_frame *frame)
{
	const struct coll_waiting_frame f = { .caller = caller, .frame = *frame };
	struct below below = { caller, (uintptr_t)frame->image, frame->off };
	uint64_t index;

	if (map_get(&w->by_frame, &below, sizeof(below), &index))
		return (uint32_t)index + 1;
	if (w->frames.len >= MAX_FRAMES || vec_push(&w->frames, f))
		return NO_ROOM;
	if (map_set(&w->by_frame, &below, sizeof(below), w->frames.len - 1)) {
		w->frames.len--;
		return NO_ROOM;
	}
	return (uint32_t)w->frames.len;
}

static uint32_t add_stack(struct coll_waiting *w, const struct coll_stack *stack)
{
	uint32_t number = 0;

	for (size_t i = stack ? stack->nr : 0; i-- > 0 && number != NO_ROOM;)
		number = add_frame(w, number, &stack->frames[i]);
	return number;
}

/* The inverse, with what images turned out to be; false: without a stack. */
static bool take_stack(const struct coll_waiting *w, uint32_t number,
		       struct coll_stack *out)
{
	out->nr = out->lane = 0;
	if (number == NO_ROOM)
		out->frames[out->nr++] = (struct coll_frame){ .off = SPEC_STACK_FULL };
	else
		for (uint32_t i = number; i && out->nr < COLL_MAX_STACK;
		     i = w->frames.data[i - 1].caller) {
			const struct coll_frame *f = &w->frames.data[i - 1].frame;

			out->frames[out->nr++] = (struct coll_frame){
				.image = coll_image_now(f->image),
				.off = f->off,
			};
		}
	return number;
}

int coll_waiting_add(struct coll_waiting *w, const struct coll_key *key, uint64_t at,
		     const struct coll_stack *stack, const struct coll_count *count)
{
	const struct coll_waiting_row row = {
		.key = *key, .at = at, .frame = add_stack(w, stack), .count = *count
	};
	struct place place = place_of(key, at, row.frame);
	uint64_t index;

	if (map_get(&w->by_place, &place, sizeof(place), &index)) {
		add_up(&w->rows.data[index].count, count);
	} else {
		if (w->rows.len >= MAX_ROWS || vec_push(&w->rows, row))
			return -ENOMEM;
		if (map_set(&w->by_place, &place, sizeof(place), w->rows.len - 1)) {
			w->rows.len--;
			return -ENOMEM;
		}
	}
	add_up(&w->all, count);
	return 0;
}

void coll_waiting_file(struct coll_waiting *w,
		       void (*file)(void *ctx, const struct coll_waiting_row *row,
				    const struct coll_stack *stack),
		       void *ctx)
{
	struct coll_waiting old = *w;
	struct coll_stack room, *stack;

	*w = (struct coll_waiting){ 0 };
	vec_for(&old.rows, row) {
		struct coll_key *k = &row->key;

		k->app = coll_image_now(k->app);
		k->image = coll_image_now(k->image);
		stack = take_stack(&old, row->frame, &room) ? &room : NULL;
		/* without memory for it the file is asked, which fails and says so */
		if (!coll_waiting_must(k, stack) ||
		    coll_waiting_add(w, k, row->at, stack, &row->count))
			file(ctx, row, stack);
	}
	coll_waiting_fini(&old);
}

void coll_waiting_fini(struct coll_waiting *w)
{
	map_fini(&w->by_place);
	vec_fini(&w->rows);
	map_fini(&w->by_frame);
	vec_fini(&w->frames);
	*w = (struct coll_waiting){ 0 };
}
