/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/libspec/stack_table.h"

#include <criterion/criterion.h>

#include "base/cleanup.h"

static const char path[] = SPEC_STACK_TABLE;

struct spec_stack_node table_frame(uint32_t number)
{
	if (number == SPEC_STACK_FIRST)
		return (struct spec_stack_node){ .off = SPEC_STACK_FULL };
	if (number % 9 == 8)
		return (struct spec_stack_node){ number - 1, 0, SPEC_STACK_UNKNOWN };
	return (struct spec_stack_node){ number % 7 ? number - 1 : number / 3,
					 1 + number % 5,
					 ((uint64_t)number << 6) |
						 (number % 2 ? SPEC_STACK_EXACT : 0) };
}

bool table_same(struct spec_stack_node a, struct spec_stack_node b)
{
	return a.parent == b.parent && a.image == b.image && a.off == b.off;
}

struct spec_stack_writer *table_open(const struct scratch *s, size_t max_bytes)
{
	struct spec_stack_writer *w = NULL;
	struct err err = { 0 };

	cr_assert_eq(spec_stack_writer_open(s->fd, SPEC_STACK_LIB, max_bytes, &w, &err),
		     0, "%s", err.msg);
	return w;
}

uint32_t table_add(struct spec_stack_writer *w, uint32_t number)
{
	struct spec_stack_node n = table_frame(number);

	return spec_stack_add(w, n.parent, n.image, n.off);
}

uint32_t table_add_other(struct spec_stack_writer *w, uint32_t nth)
{
	return spec_stack_add(w, 0, 100, nth);
}

void table_grow_to(struct spec_stack_writer *w, uint32_t nr)
{
	while (spec_stack_nr(w) < nr) {
		uint32_t number = spec_stack_nr(w);

		cr_assert_eq(table_add(w, number), number, "%u", number);
	}
}

struct spec_stacks table_read(const struct scratch *s)
{
	struct err err = { 0 };
	CLEANUP(close_fd) int fd = spec_stacks_open(s->fd, &err);
	struct spec_stacks t = { 0 };

	cr_assert_geq(fd, 0, "%s", err.msg);
	cr_assert_eq(spec_stacks_read(fd, UINT32_MAX, &t, &err), 0, "%s", err.msg);
	return t;
}

uint32_t table_lost(const struct spec_stacks *t, uint32_t nr)
{
	const struct spec_stack_node gone = { .off = SPEC_STACK_NODE_LOST };
	uint32_t lost = 0;

	for (uint32_t i = 1; i < nr && i < t->nr; i++) {
		bool is_lost = table_same(t->nodes[i], gone);

		cr_assert(is_lost || table_same(t->nodes[i], table_frame(i)),
			  "node %u: %u %u %llx", i, t->nodes[i].parent, t->nodes[i].image,
			  (unsigned long long)t->nodes[i].off);
		lost += is_lost;
	}
	return lost;
}

void table_put(const struct scratch *s, const void *data, size_t len)
{
	scratch_write(s, path, data, len);
}

char *table_bytes(const struct scratch *s, size_t *len)
{
	return scratch_read(s, path, len);
}
