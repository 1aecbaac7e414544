/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/profile/stack_sums.h"

#include <errno.h>
#include <stdlib.h>

int stack_sums_init(struct stack_sums *t, const struct profile_stacks *s)
{
	*t = (struct stack_sums){ .s = s };
	t->below = calloc(s->nr_frames + 1, sizeof(*t->below));
	t->touched = calloc(s->nr_frames + 1, sizeof(*t->touched));
	t->seen = calloc(s->nr_frames + 1, sizeof(*t->seen));
	if (t->below && t->touched && t->seen)
		return 0;
	stack_sums_fini(t);
	return -ENOMEM;
}

void stack_sums_fini(struct stack_sums *t)
{
	free(t->below);
	free(t->touched);
	free(t->seen);
	*t = (struct stack_sums){ 0 };
}

static int descending(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	return (a < b) - (a > b);
}

/* Lists the frames that the stacks touch, innermost first. */
static size_t touch(struct stack_sums *t, size_t first, size_t end)
{
	const struct profile_frame *frames = t->s->frames;
	size_t nr = 0;

	for (size_t i = first; i < end; i++) {
		uint32_t at = t->s->stacks[i].frame;

		t->below[at] += t->s->stacks[i].samples;
		for (; at && !t->seen[at]; at = frames[at].parent) {
			t->seen[at] = 1;
			t->touched[nr++] = at;
		}
	}
	if (nr < t->s->nr_frames / 8) {
		qsort(t->touched, nr, sizeof(*t->touched), descending);
		return nr;
	}
	nr = 0;
	for (size_t at = t->s->nr_frames; at-- > 1;)
		if (t->seen[at])
			t->touched[nr++] = (uint32_t)at;
	return nr;
}

int stack_sums_each(struct stack_sums *t, size_t first, size_t end,
		    int (*visit)(void *ctx, uint32_t frame, uint64_t samples), void *ctx)
{
	size_t nr = touch(t, first, end);
	int rc = 0;

	for (size_t i = 0; i < nr; i++) {
		uint32_t at = t->touched[i];

		if (!rc)
			rc = visit(ctx, at, t->below[at]);
		t->below[t->s->frames[at].parent] += t->below[at];
		t->below[at] = 0;
		t->seen[at] = 0;
	}
	t->below[0] = 0;
	return rc;
}

size_t profile_stacks_end(const struct profile_stacks *s, size_t first,
			  const struct profile_stack_file **file)
{
	const struct profile_stack_file *of = &s->files[s->stacks[first].file];
	size_t end = first + 1;

	for (; end < s->nr_stacks; end++) {
		const struct profile_stack_file *next = &s->files[s->stacks[end].file];

		if (next->file->app != of->file->app || next->class != of->class ||
		    next->lib != of->lib || next->kernel != of->kernel)
			break;
	}
	*file = of;
	return end;
}
