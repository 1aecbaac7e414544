/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "events/allocate.h"

enum { MOST = 6 };

/* Tries every way there is. */
static bool exists(const uint64_t *wants, size_t nr, uint64_t taken)
{
	if (!nr)
		return true;
	if (!wants[0])
		return exists(wants + 1, nr - 1, taken);
	for (unsigned c = 0; c < MOST; c++)
		if (wants[0] & ~taken & 1ull << c &&
		    exists(wants + 1, nr - 1, taken | 1ull << c))
			return true;
	return false;
}

static void check_valid(const uint64_t *wants, const uint8_t *out, size_t nr)
{
	uint64_t taken = 0;

	for (size_t i = 0; i < nr; i++) {
		if (!wants[i]) {
			cr_assert_eq(out[i], EV_NO_COUNTER);
			continue;
		}
		cr_assert(wants[i] & 1ull << out[i]);
		cr_assert_not(taken & 1ull << out[i]);
		taken |= 1ull << out[i];
	}
}

Test(allocate, finds_a_way_exactly_where_an_exhaustive_search_does)
{
	unsigned found = 0, none = 0;

	srandom(5);
	for (int round = 0; round < 50000; round++) {
		uint64_t wants[MOST];
		uint8_t out[MOST];
		size_t nr = (size_t)random() % (MOST + 1), refused;
		unsigned bits = 1 + (unsigned)random() % MOST;

		for (size_t i = 0; i < nr; i++)
			wants[i] = (uint64_t)random() & (uint64_t)random() &
				   ((1u << bits) - 1);
		if (!ev_allocate(wants, nr, out, &refused)) {
			check_valid(wants, out, nr);
			found++;
			continue;
		}
		cr_assert_not(exists(wants, nr, 0));
		cr_assert_lt(refused, nr);
		cr_assert(exists(wants, refused, 0));
		none++;
	}
	cr_expect_gt(found, 1000);
	cr_expect_gt(none, 1000);
}

Test(allocate, moves_events_that_were_placed_before)
{
	const uint64_t wants[] = { 0x3, 0x3, 0x1c, 0x4 };
	uint8_t out[4];
	size_t refused;

	cr_expect_eq(ev_allocate(wants, 4, out, &refused), 0);
	cr_expect_eq(out[3], 2);
	cr_expect(out[2] == 3 || out[2] == 4);
}

Test(allocate, is_quick_where_there_is_no_way)
{
	uint64_t wants[64];
	uint8_t out[64];
	size_t refused;

	for (int i = 0; i < 64; i++)
		wants[i] = (1ull << 63) - 1;
	cr_expect_eq(ev_allocate(wants, 64, out, &refused), -EBUSY);
	cr_expect_eq(refused, 63);
}

/* ---- specifications */

static struct ev_spec specs[8];
static const struct ev_spec *given[8];

static int allocate(const char *cpu, const char *const *texts, size_t nr,
		    unsigned counters, uint8_t *out, struct err *err)
{
	struct ev_tables t = { .nr = 2 };

	cr_assert_eq(ev_table_get(cpu, &t.all[0], err), 0, "%s", err->msg);
	cr_assert_eq(ev_table_get("perf/generic", &t.all[1], err), 0, "%s", err->msg);
	for (size_t i = 0; i < nr; i++) {
		cr_assert_eq(ev_spec_parse_in(&t, texts[i], &specs[i], err), 0, "%s",
			     err->msg);
		given[i] = &specs[i];
	}
	return ev_allocate_specs(given, nr, counters, out, err);
}

Test(allocate, says_which_events_do_not_go_together)
{
	static const char *const five[] = { "INST_RETIRED", "LLC_REFS", "LLC_MISSES",
					    "BR_INST_RETIRED", "BR_MISS_PRED_RETIRED" };
	struct err err = { 0 };
	uint8_t out[5];

	cr_expect_eq(allocate("i386/arch_perfmon", five, 4, 4, out, &err), 0);
	cr_expect_eq(allocate("i386/arch_perfmon", five, 5, 4, out, &err), -EBUSY);
	cr_expect(strstr(err.msg, "BR_MISS_PRED_RETIRED cannot be counted together with "
				  "INST_RETIRED, LLC_REFS"),
		  "%s", err.msg);
	cr_expect(strstr(err.msg, "(0, 1, 2, 3)"), "%s", err.msg);
}

Test(allocate, leaves_what_no_table_knows_to_the_kernel)
{
	static const char *const events[] = { "cycles", "INST_RETIRED", "r1c2" };
	struct err err = { 0 };
	uint8_t out[3];

	cr_expect_eq(allocate("i386/arch_perfmon", events, 3, 0, out, &err), 0);
	for (int i = 0; i < 3; i++)
		cr_expect_eq(out[i], EV_NO_COUNTER);
}

Test(allocate, gives_the_cycle_counter_of_arm_to_cycles_only)
{
	static const char *const events[] = { "CPU_CYCLES", "INST_RETIRED", "L1D_CACHE" };
	struct err err = { 0 };
	uint8_t out[3];

	cr_expect_eq(allocate("arm/armv8-pmuv3", events, 3, 0, out, &err), 0);
	cr_expect_neq(out[1], 0);
	cr_expect_neq(out[2], 0);
}

Test(allocate, takes_one_event_of_ibs)
{
	static const char *const events[] = { "IBS_OP_ALL:50000", "IBS_FETCH_ALL",
					      "IBS_OP_ALL:60000" };
	struct err err = { 0 };
	uint8_t out[3];

	cr_expect_eq(allocate("x86-64/family19h", events, 2, 0, out, &err), 0);
	cr_expect_eq(allocate("x86-64/family19h", events, 3, 0, out, &err), -EBUSY);
	cr_expect(strstr(err.msg, "ibs_op counts one event at a time"), "%s", err.msg);
}
