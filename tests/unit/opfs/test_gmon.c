/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/gmon.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "base/cursor.h"

struct hist { /* a histogram as it is read back */
	uint64_t low, high;
	uint32_t bins, rate;
	const uint8_t *counts;
};

static struct gmon g;
static struct strbuf out; /* what it was written to */
static struct cursor c;   /* in that */

static void teardown(void)
{
	gmon_fini(&g);
	strbuf_fini(&out);
}

TestSuite(gmon, .fini = teardown);

static void write_out(void)
{
	struct err err = { 0 };

	cr_assert_eq(gmon_write(&g, &out, &err), 0, "%s", err.msg);
	c = cursor_init(out.data, out.len);
	cr_assert_eq(memcmp(cursor_bytes(&c, 4), "gmon", 4), 0);
	cr_assert_eq(cursor_u32(&c), 1);
	cursor_skip(&c, 12);
}

static struct hist read_hist(void)
{
	struct hist h = { 0 };

	cr_assert_eq(cursor_u8(&c), 0);
	h.low = cursor_u64(&c);
	h.high = cursor_u64(&c);
	h.bins = cursor_u32(&c);
	h.rate = cursor_u32(&c);
	cr_assert_eq(memcmp(cursor_bytes(&c, 15), "samples", 8), 0);
	cursor_skip(&c, 1);
	h.counts = cursor_bytes(&c, (size_t)h.bins * 2);
	cr_assert_not(c.bad);
	cr_assert_eq(h.high - h.low, 2ull * h.bins);
	return h;
}

static unsigned bin(const struct hist *h, uint64_t address)
{
	size_t at = (address - h->low) / 2 * 2;

	cr_assert(address >= h->low && address < h->high);
	return h->counts[at] | h->counts[at + 1] << 8;
}

static void symbols(const uint64_t *vmas, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		cr_assert_eq(gmon_symbol(&g, vmas[i]), 0);
	gmon_sort(&g);
}

#define SYMBOLS(...)                                                                     \
	symbols((uint64_t[]){ __VA_ARGS__ },                                             \
		sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

Test(gmon, samples_of_one_range_are_one_histogram)
{
	struct hist h;

	SYMBOLS(0x1020, 0x1000, 0x1000);
	gmon_sample(&g, 0x1021, 0x1020, 5);
	gmon_sample(&g, 0x1020, 0x1020, 2);
	gmon_sample(&g, 0x1004, 0x1000, 3);
	write_out();
	h = read_hist();
	cr_expect_eq(cursor_left(&c), 0);
	cr_expect_eq(h.low, 0x1004);
	cr_expect_eq(h.high, 0x1022);
	cr_expect_eq(h.rate, 1);
	cr_expect_eq(bin(&h, 0x1004), 3);
	cr_expect_eq(bin(&h, 0x1020), 7);
}

Test(gmon, counts_beyond_16_bits_take_more_histograms_of_the_same_range)
{
	uint64_t sum = 0, other = 0;

	SYMBOLS(0x1000);
	gmon_sample(&g, 0x1000, 0x1000, 3 * 65535 + 1);
	gmon_sample(&g, 0x1010, 0x1000, 65535);
	write_out();
	for (int i = 0; i < 4; i++) {
		struct hist h = read_hist();

		cr_expect_eq(h.low, 0x1000);
		cr_expect_eq(h.high, 0x1012);
		sum += bin(&h, 0x1000);
		other += bin(&h, 0x1010);
	}
	cr_expect_eq(cursor_left(&c), 0);
	cr_expect_eq(sum, 3 * 65535 + 1);
	cr_expect_eq(other, 65535);
}

Test(gmon, a_sample_stays_in_its_symbol_though_two_share_a_unit)
{
	struct hist h;

	SYMBOLS(0x1000, 0x1007); /* gprof lets the second one begin at 0x1006 */
	gmon_sample(&g, 0x1006, 0x1000, 9); /* the last byte of the first */
	gmon_sample(&g, 0x1007, 0x1007, 4);
	write_out();
	h = read_hist();
	cr_expect_eq(bin(&h, 0x1004), 9);
	cr_expect_eq(bin(&h, 0x1006), 4);
}

Test(gmon, a_sample_behind_a_nested_symbol_stays_with_the_outer_one)
{
	struct hist h;

	SYMBOLS(0x1000, 0x1010);
	gmon_sample(&g, 0x1040, 0x1000, 6); /* of [0x1000, 0x1080), where 0x1010 nests */
	write_out();
	h = read_hist();
	cr_expect_eq(h.low, 0x100e);
	cr_expect_eq(bin(&h, 0x100e), 6);
}

Test(gmon, what_no_symbol_has_counts_for_nobody)
{
	struct hist h;

	SYMBOLS(0x1000);
	gmon_nobody(&g, 8);
	gmon_sample(&g, 0x5000, 0x4000, 1); /* of a symbol that gprof does not know */
	write_out();
	h = read_hist();
	cr_expect_eq(h.high, 0x1000);
	cr_expect_eq(bin(&h, 0xffe), 9);
}

Test(gmon, a_far_range_costs_a_histogram_and_no_memory)
{
	const uint64_t far = UINT64_C(1) << 60;
	struct hist h;

	SYMBOLS(0x1000, far);
	gmon_sample(&g, 0x1000, 0x1000, 1);
	gmon_sample(&g, far + 2, far, 2);
	write_out();
	h = read_hist();
	cr_expect_eq(h.high, 0x1002);
	h = read_hist();
	cr_expect_eq(h.low, far + 2);
	cr_expect_lt(out.len, 200);
}

Test(gmon, a_symbol_of_an_absurd_size_is_refused)
{
	struct err err = { 0 };

	SYMBOLS(0x1000);
	gmon_sample(&g, 0x1000, 0x1000, 1);
	gmon_sample(&g, UINT64_C(1) << 60, 0x1000, 1);
	cr_expect_eq(gmon_write(&g, &out, &err), -EINVAL);
	cr_expect(strstr(err.msg, "larger than 256 MiB"), "%s", err.msg);
	gmon_fini(&g);
	g = (struct gmon){ 0 };
	SYMBOLS(0x1000);
	gmon_sample(&g, 0x1000, 0x1000, UINT64_MAX);
	cr_expect_eq(gmon_write(&g, &out, &err), -EINVAL);
}

Test(gmon, many_far_symbols_take_few_histograms)
{
	size_t nr = 0;

	for (uint64_t i = 1; i <= 3000; i++)
		cr_assert_eq(gmon_symbol(&g, i << 13), 0);
	gmon_sort(&g);
	for (uint64_t i = 1; i <= 3000; i++)
		cr_assert_eq(gmon_sample(&g, i << 13, i << 13, i), 0);
	write_out();
	for (; cursor_left(&c); nr++)
		read_hist();
	cr_expect_leq(nr, 256);
}

Test(gmon, equal_arcs_are_added_up_and_large_ones_divided)
{
	uint64_t sum = 0;

	gmon_call(&g, 0x2000, 0x1000, UINT32_MAX);
	gmon_call(&g, 0x1fff, 0x1000, 3);
	gmon_call(&g, 0x2000, 0x1000, 7);
	write_out();
	cr_expect_eq(cursor_u8(&c), 1);
	cr_expect_eq(cursor_u64(&c), 0x1fff);
	cr_expect_eq(cursor_u64(&c), 0x1000);
	cr_expect_eq(cursor_u32(&c), 3);
	for (int i = 0; i < 2; i++) {
		cr_expect_eq(cursor_u8(&c), 1);
		cr_expect_eq(cursor_u64(&c), 0x2000);
		cr_expect_eq(cursor_u64(&c), 0x1000);
		sum += cursor_u32(&c);
	}
	cr_expect_eq(sum, UINT64_C(7) + UINT32_MAX);
	cr_expect(!c.bad && !cursor_left(&c));
}

Test(gmon, names_that_gprof_takes_for_functions)
{
	static const struct {
		const char *name;
		bool global, known;
	} rows[] = {
		{ "main", true, true },
		{ "main", false, true },
		{ "f.cold", true, true },
		{ "f.cold", false, false },
		{ "f.part.0", false, false },
		{ "f.123", false, true },
		{ "f.constprop.0", false, true },
		{ "f.clone.1.2", false, true },
		{ "f.1.x", false, false },
		{ "a$b", false, false },
		{ ".L1", false, false },
		{ "", false, false },
		{ "__gnu_compiled_c", false, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect_eq(gmon_knows(rows[i].name, rows[i].global), rows[i].known,
			     "%s", rows[i].name);
}
