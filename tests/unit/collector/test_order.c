/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collector/source/decode.h"
#include "collector/source/order.h"
#include "tests/unit/collector/records.h"

enum { RING = 4096, NR = 3 };

static struct coll_layout layout;

static void setup(void)
{
	struct perf_event_attr attr = { 0 };

	coll_layout_ask(false, 0, &attr);
	cr_assert_eq(coll_layout_init(&layout, &attr, NULL), 0);
}

TestSuite(order, .init = setup);

static struct perf_event_mmap_page *page(struct coll_ring *r)
{
	return r->base;
}

static void ring_init(struct coll_ring *r)
{
	void *base = mmap(NULL, RING + (size_t)sysconf(_SC_PAGESIZE),
			  PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(base, MAP_FAILED);
	cr_assert_eq(coll_ring_init(r, base, RING, &layout), 0);
}

/* What the kernel does; false if there is no room. */
static bool ring_put(struct coll_ring *r, const struct bytes *b)
{
	uint64_t head = page(r)->data_head;

	if (head + b->len - page(r)->data_tail > RING)
		return false;
	for (size_t i = 0; i < b->len; i++)
		((char *)(uintptr_t)r->data)[(head + i) % RING] = (char)b->data[i];
	page(r)->data_head = head + b->len;
	return true;
}

struct seen {
	uint64_t last_ns, nr;
};

static int take(void *ctx, const void *rec, size_t len)
{
	struct seen *s = ctx;
	uint64_t time_ns = coll_layout_time(&layout, rec, len);

	cr_expect_leq(s->last_ns, time_ns);
	s->last_ns = time_ns;
	s->nr++;
	return 0;
}

Test(order, hands_over_by_time_whatever_ring_a_record_came_from)
{
	struct coll_ring rings[NR] = { 0 };
	struct coll_order o = { .rings = rings, .nr = NR };
	struct seen seen = { 0 };
	uint64_t now = 1, put_nr = 0;
	struct bytes b;

	srand(2);
	for (int i = 0; i < NR; i++)
		ring_init(&rings[i]);
	for (int round = 0; round < 2000; round++) {
		/* late writers: a record's time may lie a little before the round */
		for (int n = rand() % 40; n > 0; n--) {
			make_sample(&b, 1, 1, 1, now++);
			/* of odd lengths, so that records wrap in every way */
			for (int pad = rand() % 5; pad > 0; pad--)
				put64(&b, 0);
			end(&b);
			put_nr += ring_put(&rings[rand() % NR], &b);
		}
		cr_assert_geq(coll_order_round(&o, now, take, &seen), 0);
	}
	cr_assert_eq(coll_order_round(&o, UINT64_MAX, take, &seen), 0);
	cr_expect_eq(seen.nr, put_nr);
	cr_expect_eq(o.bad, 0);
	for (int i = 0; i < NR; i++) {
		cr_expect_eq(page(&rings[i])->data_tail, page(&rings[i])->data_head);
		coll_ring_fini(&rings[i]);
	}
}

Test(order, holds_back_what_another_cpu_may_still_precede)
{
	struct coll_ring rings[2] = { 0 };
	struct coll_order o = { .rings = rings, .nr = 2 };
	struct seen seen = { 0 };
	struct bytes b;

	ring_init(&rings[0]);
	ring_init(&rings[1]);
	make_sample(&b, 1, 1, 1, 50);
	ring_put(&rings[0], &b);
	coll_order_round(&o, 100, take, &seen);
	cr_expect_eq(seen.nr, 0);
	make_sample(&b, 1, 1, 1, 40);
	ring_put(&rings[1], &b);
	make_sample(&b, 1, 1, 1, 150);
	ring_put(&rings[1], &b);
	coll_order_round(&o, 200, take, &seen);
	cr_expect_eq(seen.nr, 2);
	coll_order_round(&o, 300, take, &seen);
	cr_expect_eq(seen.nr, 3);
	coll_ring_fini(&rings[0]);
	coll_ring_fini(&rings[1]);
}

Test(order, asks_for_another_round_when_a_ring_fills)
{
	struct coll_ring ring = { 0 };
	struct coll_order o = { .rings = &ring, .nr = 1 };
	struct seen seen = { 0 };
	struct bytes b;

	ring_init(&ring);
	make_sample(&b, 1, 1, 1, 10);
	while (ring_put(&ring, &b))
		;
	cr_expect_eq(coll_order_round(&o, 20, take, &seen), 1);
	cr_expect_eq(coll_order_round(&o, 30, take, &seen), 0);
	cr_expect_gt(seen.nr, 50);
	coll_ring_fini(&ring);
}

Test(order, survives_sizes_that_cannot_be)
{
	static const uint16_t sizes[] = { 0, 4, 7, 12, 60000 };
	struct seen seen = { 0 };
	struct bytes b;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct coll_ring ring = { 0 };
		struct coll_order o = { .rings = &ring, .nr = 1 };

		ring_init(&ring);
		make_sample(&b, 1, 1, 1, 10);
		((struct perf_event_header *)(void *)b.data)->size = sizes[i];
		ring_put(&ring, &b);
		cr_expect_eq(coll_order_round(&o, UINT64_MAX, take, &seen), 0);
		cr_expect_eq(o.bad, 1, "size %u", sizes[i]);
		cr_expect_eq(page(&ring)->data_tail, page(&ring)->data_head);
		coll_ring_fini(&ring);
	}
	cr_expect_eq(seen.nr, 0);
}

static int refuse(void *ctx, const void *rec, size_t len)
{
	(void)ctx;
	(void)rec;
	(void)len;
	return -12;
}

Test(order, ends_a_round_with_what_the_taker_failed_with)
{
	struct coll_ring ring = { 0 };
	struct coll_order o = { .rings = &ring, .nr = 1 };
	struct bytes b;

	ring_init(&ring);
	make_sample(&b, 1, 1, 1, 10);
	ring_put(&ring, &b);
	cr_expect_eq(coll_order_round(&o, UINT64_MAX, refuse, NULL), -12);
	coll_ring_fini(&ring);
}
