/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The writer, compiled with its log of stores: after every one of them the file is what a
 * kill there would leave behind, and each of its pages what a power failure may leave of
 * that page.
 */
#define SPEC_STORE_LOG
#include "libspec/stack/stack_write.c"

#include <criterion/criterion.h>

#include "tests/unit/libspec/stack_table.h"

spec_store_log spec_store_hook;
void *spec_store_ctx;

enum { PLENTY = 1 << 20, OTHERS = 3 };

static struct scratch replay; /* where what is left is taken up again */
static struct spec_stack_writer *w;

static void setup(void)
{
	replay = scratch_new();
}

static void teardown(void)
{
	scratch_fini(&replay);
}

TestSuite(stack_log, .init = setup, .fini = teardown);

/* Another writer finds the file, in which numbers below @given may have been counted. */
static void go_on(uint32_t given)
{
	CLEANUP(spec_stacks_fini) struct spec_stacks t = { 0 };
	struct spec_stack_writer *next = table_open(&replay, PLENTY);
	uint32_t nr = spec_stack_nr(next);

	cr_assert_geq(nr, given);
	for (uint32_t i = 0; i < OTHERS; i++)
		cr_assert_eq(table_add_other(next, i), nr + i);
	spec_stack_writer_free(next);
	t = table_read(&replay);
	cr_assert_eq(t.nr, nr + OTHERS);
	cr_assert_eq(t.damaged, 0);
	table_lost(&t, nr);
	for (uint32_t i = 0; i < OTHERS; i++)
		cr_assert_eq(t.nodes[nr + i].off, i);
}

/* ---- kills */

struct kills {
	uint32_t before; /* nodes when the add under way began */
	size_t stores;
};

static void after_store(void *ctx, const void *base, size_t off, size_t len)
{
	CLEANUP(spec_stacks_fini) struct spec_stacks t = { 0 };
	struct kills *k = ctx;

	k->stores++;
	cr_assert_leq(off + len, w->file.len);
	table_put(&replay, base, w->file.len);
	t = table_read(&replay);
	cr_assert(t.nr == k->before || t.nr == k->before + 1, "store %zu", k->stores);
	cr_assert_eq(t.damaged, 0);
	cr_assert_eq(table_lost(&t, t.nr), 0, "store %zu", k->stores);
	spec_store_hook = NULL;
	go_on(t.nr);
	spec_store_hook = after_store;
}

Test(stack_log, every_prefix_is_readable_and_can_be_appended_to)
{
	CLEANUP(scratch_fini) struct scratch s = scratch_new();
	struct kills k = { 0 };

	w = table_open(&s, PLENTY);
	spec_store_ctx = &k;
	spec_store_hook = after_store;
	while (spec_stack_nr(w) < 600) {
		k.before = spec_stack_nr(w);
		cr_assert_eq(table_add(w, k.before), k.before);
	}
	spec_store_hook = NULL;
	cr_expect_gt(spec_stack_bytes(w), FIRST_BYTES, "growth was not met");
	cr_expect_eq(k.stores, 4 * 598);
	spec_stack_writer_free(w);
}

/* ---- power failures: the disk has each page as it was at some time, or not at all */

enum { PAGE = 4096, PAGES = 4, TIMES = 4 };

struct times {
	char *file[TIMES]; /* [0] is all zero */
	size_t at[TIMES];  /* after how many stores; each ends in the middle of a node */
	size_t stores, nr;
};

static void keep_some(void *ctx, const void *base, size_t off, size_t len)
{
	struct times *t = ctx;

	(void)off;
	(void)len;
	if (t->nr < TIMES && ++t->stores == t->at[t->nr]) {
		t->file[t->nr] = calloc(PAGES, PAGE);
		memcpy(t->file[t->nr], base,
		       w->file.len < PAGES * PAGE ? w->file.len : PAGES * PAGE);
		t->nr++;
	}
}

static void lose_power(const struct times *times, size_t choice)
{
	CLEANUP(spec_stacks_fini) struct spec_stacks t = { 0 };
	char file[PAGES * PAGE];

	memcpy(file, times->file[1 + choice % (TIMES - 1)], PAGE);
	choice /= TIMES - 1;
	for (size_t page = 1; page < PAGES; page++, choice /= TIMES)
		memcpy(file + page * PAGE, times->file[choice % TIMES] + page * PAGE,
		       PAGE);
	table_put(&replay, file, sizeof(file));
	t = table_read(&replay);
	cr_assert_eq(table_lost(&t, t.nr), 0);
	go_on((uint32_t)((sizeof(file) - spec_stack_len(0)) / 16));
}

Test(stack_log, no_page_that_a_power_failure_loses_makes_a_node_another)
{
	CLEANUP(scratch_fini) struct scratch s = scratch_new();
	struct times times = { .at = { 0, 4 * 400 + 1, 4 * 600 + 2, 4 * 900 + 3 },
			       .file = { calloc(PAGES, PAGE) },
			       .nr = 1 };

	w = table_open(&s, PLENTY);
	spec_store_ctx = &times;
	spec_store_hook = keep_some;
	table_grow_to(w, 1000);
	spec_store_hook = NULL;
	spec_stack_writer_free(w);
	cr_assert_eq(times.nr, TIMES);
	for (size_t choice = 0; choice < (TIMES - 1) * TIMES * TIMES * TIMES; choice++)
		lose_power(&times, choice);
	for (size_t i = 0; i < TIMES; i++)
		free(times.file[i]);
}

/* A page may be written to the disk in the middle of a node's stores, and never again. */
Test(stack_log, a_node_that_was_not_finished_on_the_disk_is_lost)
{
	CLEANUP(scratch_fini) struct scratch s = scratch_new();

	w = table_open(&s, PLENTY);
	table_grow_to(w, 400);
	for (size_t stores = 1; stores < 3; stores++) {
		CLEANUP(spec_stacks_fini) struct spec_stacks t = { 0 };
		size_t len;
		CLEANUP(free_ptr) char *data = table_bytes(&s, &len);
		struct spec_stack_node *n = (void *)(data + spec_stack_len(300));

		n->image = 0;
		n->off = stores == 1 ? 0 : n->off;
		table_put(&replay, data, len);
		t = table_read(&replay);
		cr_expect_eq(t.nr, 300);
		spec_stacks_fini(&t);
		go_on((uint32_t)((len - spec_stack_len(0)) / 16));
		t = table_read(&replay);
		cr_expect_eq(table_lost(&t, 400), 1);
		cr_expect_eq(t.nodes[300].off, SPEC_STACK_NODE_LOST);
	}
	spec_stack_writer_free(w);
}
