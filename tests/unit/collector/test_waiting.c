/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "collector/store/waiting.h"

static uint64_t filed, filed_samples;
static const struct coll_image *last;

/* The stacks that were filed: "3+16;1+32 5", image and offset, the outermost first. */
static char stacks[512];

static void file(void *ctx, const struct coll_waiting_row *row,
		 const struct coll_stack *stack)
{
	char *at = stacks + strlen(stacks);

	(void)ctx;
	filed += row->count.weight;
	filed_samples += row->count.samples;
	last = row->key.image;
	if (!stack)
		return;
	for (size_t i = stack->nr; i-- > 0;) {
		const struct coll_frame *f = &stack->frames[i];

		at += sprintf(at, "%d+%d%s", f->image ? (int)f->image->id : 0,
			      (int)f->off, i ? ";" : "");
	}
	sprintf(at, " %d\n", (int)row->count.weight);
}

static const struct coll_count one = { .weight = 1, .samples = 1 };

Test(waiting, counts_go_to_what_the_image_turned_out_to_be)
{
	struct coll_waiting w = { 0 };
	struct coll_image app = { .id = 1 }, other = { .id = 2 };
	struct coll_image first = { .id = 3, .pending = true };
	struct coll_image second = { .id = 4, .pending = true };
	struct coll_key a = { .app = &app, .image = &first };
	struct coll_key b = { .app = &second, .image = &app };

	cr_expect(coll_waiting_must(&a, NULL));
	for (int i = 0; i < 1000; i++)
		cr_assert_eq(coll_waiting_add(&w, &a, 64, NULL, &one), 0);
	cr_assert_eq(coll_waiting_add(&w, &b, 64, NULL, &one), 0);
	cr_expect_eq(w.rows.len, 2);
	cr_expect_eq(w.all.samples, 1001);
	first.pending = false;
	first.became = &other;
	coll_waiting_file(&w, file, NULL);
	cr_expect_eq(filed, 1000);
	cr_expect_eq(last, &other);
	cr_expect_eq(w.all.samples, 1);
	second.pending = false;
	coll_waiting_file(&w, file, NULL);
	cr_expect_eq(filed_samples, 1001);
	cr_expect_eq(w.rows.len, 0);
	coll_waiting_fini(&w);
}

Test(waiting, has_a_limit)
{
	struct coll_waiting w = { 0 };
	struct coll_image img = { .pending = true };
	struct coll_key key = { .app = &img, .image = &img };
	uint64_t at = 0;

	while (!coll_waiting_add(&w, &key, at, NULL, &one))
		at++;
	cr_expect_eq(w.all.samples, at);
	cr_expect_eq(coll_waiting_add(&w, &key, 0, NULL, &one),
		     0); /* no more room is needed */
	coll_waiting_fini(&w);
}

static struct coll_stack of(size_t nr, const struct coll_frame *frames)
{
	struct coll_stack s = { .nr = nr };

	memcpy(s.frames, frames, nr * sizeof(*frames));
	return s;
}

Test(waiting, a_sample_waits_with_its_stack_for_any_image_in_it)
{
	struct coll_waiting w = { 0 };
	struct coll_image app = { .id = 1 }, other = { .id = 2 };
	struct coll_image first = { .id = 3, .pending = true };
	struct coll_image second = { .id = 4, .pending = true };
	struct coll_key key = { .app = &app, .image = &app };
	struct coll_stack a =
		of(3,
		   (struct coll_frame[]){ { &app, 10 }, { &first, 20 }, { &app, 30 } });
	struct coll_stack b =
		of(4,
		   (struct coll_frame[]){
			   { &app, 10 }, { &first, 20 }, { &second, 40 }, { NULL, 3 } });
	struct coll_stack here = of(1, (struct coll_frame[]){ { &app, 10 } });

	cr_expect_not(coll_waiting_must(&key, &here));
	cr_expect(coll_waiting_must(&key, &a));
	for (int i = 0; i < 5; i++) {
		cr_assert_eq(coll_waiting_add(&w, &key, 10, &a, &one), 0);
		cr_assert_eq(coll_waiting_add(&w, &key, 10, &b, &one), 0);
	}
	cr_expect_eq(w.rows.len, 2);       /* equal stacks are one row, */
	cr_expect_eq(w.frames.len, 3 + 4); /* and share their frames */
	first.pending = false;
	first.became = &other;
	coll_waiting_file(&w, file, NULL);
	cr_expect_str_eq(stacks, "1+30;2+20;1+10 5\n");
	cr_expect_eq(w.all.samples, 5);
	vec_for(&w.frames, f)
		cr_expect_neq(f->frame.image, &first); /* it may be freed */
	second.pending = false;
	*stacks = '\0';
	coll_waiting_file(&w, file, NULL);
	cr_expect_str_eq(stacks, "0+3;4+40;2+20;1+10 5\n");
	cr_expect_eq(w.all.samples, 0);
	cr_expect_eq(w.frames.len, 0);
	coll_waiting_fini(&w);
}

static void count_full(void *ctx, const struct coll_waiting_row *row,
		       const struct coll_stack *stack)
{
	uint64_t *full = ctx;

	cr_assert(stack);
	if (stack->nr == 1 && !stack->frames[0].image)
		*full += stack->frames[0].off == SPEC_STACK_FULL ? row->count.weight : 0;
	else
		cr_assert_eq(stack->nr, 1000);
}

Test(waiting, too_many_frames_cost_the_stack_and_not_the_sample)
{
	struct coll_waiting w = { 0 };
	struct coll_image img = { .id = 3, .pending = true };
	struct coll_key key = { .app = &img, .image = &img };
	struct coll_stack deep = { .nr = 1000 };
	uint64_t full = 0;

	for (size_t i = 0; i < deep.nr; i++)
		deep.frames[i] = (struct coll_frame){ &img, i };
	for (uint64_t i = 0; i < 600; i++) {
		/* another outermost frame makes all below it others */
		deep.frames[deep.nr - 1].off = 10000 + i;
		cr_assert_eq(coll_waiting_add(&w, &key, 0, &deep, &one), 0);
	}
	cr_expect_eq(w.all.samples, 600);
	img.pending = false;
	coll_waiting_file(&w, count_full, &full);
	cr_expect_eq(full, 600 - (1 << 19) / 1000);
	coll_waiting_fini(&w);
}
