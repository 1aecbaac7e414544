/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <string.h>

#include "collector/rec/deferred.h"
#include "collector/rec/ext.h"

static struct coll_rec fork_of(uint32_t parent, uint32_t child)
{
	return (struct coll_rec){ .kind = COLL_REC_FORK,
				  .tgid = child,
				  .tid = child,
				  .parent = { parent, parent } };
}

Test(deferred, keeps_copies_in_their_order)
{
	struct coll_deferred d = { 0 };
	struct coll_group *g = coll_deferred_begin(&d, 10);
	uint64_t ips[2] = { 1, 2 };
	char name[] = "/bin/sleep";
	struct coll_rec sample = { .kind = COLL_REC_SAMPLE,
				   .tgid = 10,
				   .sample = { .ips = ips, .nr_ips = 2 } };
	struct coll_rec mmap = { .kind = COLL_REC_MMAP,
				 .tgid = 10,
				 .mmap = { .filename = name } };
	struct coll_held *h;

	cr_assert_eq(coll_deferred_add(&d, g, &sample), 0);
	cr_assert_eq(coll_deferred_add(&d, g, &mmap), 0);
	memset(ips, 0, sizeof(ips));
	memset(name, 0, sizeof(name));
	cr_expect_eq(d.samples, 1);
	cr_expect_not(g->changed);
	h = coll_deferred_end(&d, g);
	cr_assert_eq(coll_held_rec(h)->sample.ips[1], 2);
	h = coll_held_next(h);
	cr_assert_str_eq(coll_held_rec(h)->mmap.filename, "/bin/sleep");
	cr_expect_null(coll_held_next(h));
	cr_expect_eq(d.samples, 0);
	cr_expect_eq(d.bytes, 0);
	cr_expect_null(coll_deferred_find(&d, 10));
	coll_deferred_fini(&d);
}

Test(deferred, keeps_all_that_a_sample_of_the_driver_has)
{
	struct coll_deferred d = { 0 };
	struct coll_group *g = coll_deferred_begin(&d, 10);
	struct coll_place places[] = { { .at = 1, .handle = 2 }, { .at = 3 } };
	struct coll_who who = { .seq = 4, .comm = "who" };
	uint64_t regs[] = { 5, 6, 7 };
	struct coll_ext_sample ext = { .nr = 3, .regs = regs };
	struct coll_code_range ranges[] = { { 8, 9, 10, 11 } };
	char bytes[] = "a stack";
	struct coll_user_stack stack = { .regs = { .sp = 12 },
					 .bytes = bytes,
					 .size = sizeof(bytes),
					 .ranges = ranges,
					 .nr_ranges = 1 };
	const struct coll_rec rec = { .kind = COLL_REC_SAMPLE,
				      .tgid = 10,
				      .sample = { .places = places,
						  .nr_places = 2,
						  .who = &who,
						  .ext = &ext,
						  .user_stack = &stack } };
	const struct coll_sample *s;
	struct coll_held *h;

	cr_assert_eq(coll_deferred_add(&d, g, &rec), 0);
	memset(places, 0, sizeof(places));
	memset(&who, 0, sizeof(who));
	memset(regs, 0, sizeof(regs));
	memset(&ext, 0, sizeof(ext));
	memset(ranges, 0, sizeof(ranges));
	memset(bytes, 0, sizeof(bytes));
	memset(&stack, 0, sizeof(stack));
	h = coll_deferred_end(&d, g);
	s = &coll_held_rec(h)->sample;
	cr_assert_eq(s->nr_places, 2);
	cr_expect_eq(s->places[0].handle, 2);
	cr_expect_eq(s->places[1].at, 3);
	cr_expect_eq(s->who->seq, 4);
	cr_expect_str_eq(s->who->comm, "who");
	cr_assert_eq(s->ext->nr, 3);
	cr_expect_eq(s->ext->regs[2], 7);
	cr_expect_eq(s->user_stack->regs.sp, 12);
	cr_expect_str_eq(s->user_stack->bytes, "a stack");
	cr_assert_eq(s->user_stack->nr_ranges, 1);
	cr_expect_eq(s->user_stack->ranges[0].at, 11);
	cr_expect_null(coll_held_next(h));
	cr_expect_eq(d.bytes, 0);
	coll_deferred_fini(&d);
}

Test(deferred, children_wait_with_their_parent)
{
	struct coll_deferred d = { 0 };
	struct coll_group *g = coll_deferred_begin(&d, 10);
	struct coll_rec born = fork_of(10, 11), next = fork_of(11, 12);

	cr_assert_eq(coll_deferred_add(&d, g, &born), 0);
	cr_expect_eq(coll_deferred_find(&d, 11), g);
	cr_assert_eq(coll_deferred_add(&d, g, &next), 0);
	cr_expect_eq(coll_deferred_find(&d, 12), g);
	for (struct coll_held *h = coll_deferred_end(&d, g); h;)
		h = coll_held_next(h);
	cr_expect_null(coll_deferred_find(&d, 12));
	coll_deferred_fini(&d);
}

/* What /proc says after an exec does not hold of what was before. */
Test(deferred, an_exec_is_noticed)
{
	struct coll_deferred d = { 0 };
	struct coll_group *g = coll_deferred_begin(&d, 10);
	struct coll_rec rename = { .kind = COLL_REC_COMM, .tgid = 10 };
	struct coll_rec exec = rename;

	rename.comm.name = exec.comm.name = "name";
	exec.comm.exec = true;
	cr_assert_eq(coll_deferred_add(&d, g, &rename), 0);
	cr_expect_not(g->changed);
	cr_assert_eq(coll_deferred_add(&d, g, &exec), 0);
	cr_expect(g->changed);
	coll_deferred_fini(&d);
}

Test(deferred, has_a_limit)
{
	struct coll_deferred d = { 0 };
	struct coll_group *g = coll_deferred_begin(&d, 10);
	static uint64_t ips[1000];
	struct coll_rec sample = { .kind = COLL_REC_SAMPLE,
				   .tgid = 10,
				   .sample = { .ips = ips, .nr_ips = 1000 } };
	uint64_t nr = 0;

	while (!coll_deferred_add(&d, g, &sample))
		nr++;
	cr_expect_eq(d.samples, nr);
	cr_expect_lt(d.bytes, 80u << 20);
	coll_deferred_fini(&d);
	cr_expect_eq(d.bytes, 0);
}
