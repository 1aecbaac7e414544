/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "collector/rec/ext.h"
#include "collector/rec/ext_ibs.h"

static struct coll_ext x;
static struct err err;

static void setup(void)
{
	x = (struct coll_ext){ 0 };
	err = (struct err){ 0 };
}

static void teardown(void)
{
	coll_ext_fini(&x);
}

TestSuite(ext, .init = setup, .fini = teardown);

static const char *const fetch_names[] = {
	"IBS_FETCH_ALL",
	"IBS_FETCH_KILLED",
	"IBS_FETCH_ATTEMPTED",
	"IBS_FETCH_COMPLETED",
	"IBS_FETCH_ABORTED",
	"IBS_FETCH_ITLB_HITS",
	"IBS_FETCH_L1_ITLB_MISSES_L2_ITLB_HITS",
	"IBS_FETCH_L1_ITLB_MISSES_L2_ITLB_MISSES",
	"IBS_FETCH_ICACHE_MISSES",
	"IBS_FETCH_ICACHE_HITS",
	"IBS_FETCH_4K_PAGE",
	"IBS_FETCH_2M_PAGE",
	"IBS_FETCH_LATENCY",
};
static const char *const op_names[] = {
	"IBS_OP_ALL",
	"IBS_OP_TAG_TO_RETIRE",
	"IBS_OP_COMP_TO_RET",
	"IBS_OP_BRANCH_RETIRED",
	"IBS_OP_MISPREDICTED_BRANCH",
	"IBS_OP_TAKEN_BRANCH",
	"IBS_OP_MISPREDICTED_BRANCH_TAKEN",
	"IBS_OP_RETURNS",
	"IBS_OP_MISPREDICTED_RETURNS",
	"IBS_OP_RESYNC",
	"IBS_OP_ALL_LOAD_STORE",
	"IBS_OP_LOAD",
	"IBS_OP_STORE",
	"IBS_OP_L1_DTLB_HITS",
	"IBS_OP_L1_DTLB_MISS_L2_DTLB_HIT",
	"IBS_OP_L1_L2_DTLB_MISS",
	"IBS_OP_DATA_CACHE_MISS",
	"IBS_OP_DATA_HITS",
	"IBS_OP_MISALIGNED_DATA_ACC",
	"IBS_OP_BANK_CONF_LOAD",
	"IBS_OP_BANK_CONF_STORE",
	"IBS_OP_FORWARD",
	"IBS_OP_CANCELLED",
	"IBS_OP_DCUC_MEM_ACC",
	"IBS_OP_DCWC_MEM_ACC",
	"IBS_OP_LOCKED",
	"IBS_OP_MAB_HIT",
	"IBS_OP_L1_DTLB_4K",
	"IBS_OP_L1_DTLB_2M",
	"IBS_OP_L1_DTLB_1G",
	"IBS_OP_L2_DTLB_4K",
	"IBS_OP_L2_DTLB_2M",
	"IBS_OP_DC_LOAD_LAT",
	"IBS_OP_NB_LOCAL_ONLY",
	"IBS_OP_NB_REMOTE_ONLY",
	"IBS_OP_NB_LOCAL_L3",
	"IBS_OP_NB_LOCAL_CACHE",
	"IBS_OP_NB_REMOTE_CACHE",
	"IBS_OP_NB_LOCAL_DRAM",
	"IBS_OP_NB_REMOTE_DRAM",
	"IBS_OP_NB_LOCAL_OTHER",
	"IBS_OP_NB_REMOTE_OTHER",
	"IBS_OP_NB_CACHE_MODIFIED",
	"IBS_OP_NB_CACHE_OWNED",
	"IBS_OP_NB_LOCAL_CACHE_LAT",
	"IBS_OP_NB_REMOTE_CACHE_LAT",
};

enum {
	NR_FETCH = sizeof(fetch_names) / sizeof(fetch_names[0]),
	NR_OP = sizeof(op_names) / sizeof(op_names[0]),
};

static void choose_all(void)
{
	for (size_t i = 0; i < NR_FETCH + NR_OP; i++) {
		CLEANUP(strbuf_fini) struct strbuf word = { 0 };

		strbuf_printf(&word, "%s:50000",
			      i < NR_FETCH ? fetch_names[i] : op_names[i - NR_FETCH]);
		cr_assert(coll_ext_knows(strbuf_str(&word)), "%s", strbuf_str(&word));
		cr_assert_eq(coll_ext_event(&x, strbuf_str(&word), &err), 0, "%s",
			     err.msg);
	}
}

/* "NAME NAME=WEIGHT": what a sample counts for, in the order of the table. */
static void expect_hits(const struct coll_ext_sample *s, const char *want)
{
	CLEANUP(strbuf_fini) struct strbuf got = { 0 };
	struct coll_ext_hit hits[COLL_EXT_MAX_EVENTS];
	size_t nr;

	cr_assert_eq(coll_ext_derive(&x, s, hits, &nr), COLL_EXT_TAKEN);
	for (size_t i = 0; i < nr; i++) {
		strbuf_printf(&got, "%s%s", i ? " " : "",
			      x.events.data[hits[i].event].name);
		if (hits[i].weight != 1)
			strbuf_printf(&got, "=%u", hits[i].weight);
	}
	cr_expect_str_eq(strbuf_str(&got), want);
}

static void expect_fetch(uint64_t ctl, const char *want)
{
	const uint64_t regs[] = { ctl, 0, 0 };

	expect_hits(&(struct coll_ext_sample){ COLL_EXT_IBS_FETCH, 0, 3, regs }, want);
}

static void expect_op(uint64_t data, uint64_t data2, uint64_t data3, const char *want)
{
	const uint64_t regs[] = { 0, 0, data, data2, data3 };

	expect_hits(&(struct coll_ext_sample){ COLL_EXT_IBS_OP, 0, 5, regs }, want);
}

#define BIT(n) (1ULL << (n))
enum { DONE = 50, IC_MISS, PHYSICAL, PAGE, L1_MISS = 55, L2_MISS };

Test(ext, fetches_are_what_their_bits_say)
{
	choose_all();
	expect_fetch(0, "IBS_FETCH_ALL IBS_FETCH_KILLED");
	/* a killed one has no latency to speak of */
	expect_fetch(99ULL << 32, "IBS_FETCH_ALL IBS_FETCH_KILLED");
	expect_fetch(BIT(DONE) | BIT(PHYSICAL) | 12ULL << 32,
		     "IBS_FETCH_ALL IBS_FETCH_ATTEMPTED IBS_FETCH_COMPLETED "
		     "IBS_FETCH_ITLB_HITS IBS_FETCH_ICACHE_HITS IBS_FETCH_4K_PAGE "
		     "IBS_FETCH_LATENCY=12");
	expect_fetch(BIT(IC_MISS) | BIT(PHYSICAL) | BIT(PAGE) | BIT(L1_MISS),
		     "IBS_FETCH_ALL IBS_FETCH_ATTEMPTED IBS_FETCH_ABORTED "
		     "IBS_FETCH_L1_ITLB_MISSES_L2_ITLB_HITS IBS_FETCH_ICACHE_MISSES "
		     "IBS_FETCH_2M_PAGE");
	expect_fetch(BIT(L1_MISS) | BIT(L2_MISS) | 0xffffULL << 32,
		     "IBS_FETCH_ALL IBS_FETCH_ATTEMPTED IBS_FETCH_ABORTED "
		     "IBS_FETCH_L1_ITLB_MISSES_L2_ITLB_MISSES IBS_FETCH_LATENCY=65535");
}

Test(ext, ops_are_what_their_bits_say)
{
	choose_all();
	expect_op(0, 0, 0, "IBS_OP_ALL");
	expect_op(0x00070003, 0, 0,
		  "IBS_OP_ALL IBS_OP_TAG_TO_RETIRE=7 IBS_OP_COMP_TO_RET=3");
	/* taken and mispredicted mean nothing of what is no branch */
	expect_op(BIT(35) | BIT(36) | BIT(32), 0, 0, "IBS_OP_ALL IBS_OP_RESYNC");
	expect_op(BIT(37) | BIT(36) | BIT(35) | BIT(34), 0, 0,
		  "IBS_OP_ALL IBS_OP_BRANCH_RETIRED IBS_OP_MISPREDICTED_BRANCH "
		  "IBS_OP_TAKEN_BRANCH IBS_OP_MISPREDICTED_BRANCH_TAKEN IBS_OP_RETURNS "
		  "IBS_OP_MISPREDICTED_RETURNS");
}

Test(ext, loads_and_stores_are_what_their_bits_say)
{
	choose_all();
	/* without load or store the rest means nothing */
	expect_op(0, 7, ~3ULL, "IBS_OP_ALL");
	expect_op(0, 0, BIT(1) | BIT(17),
		  "IBS_OP_ALL IBS_OP_ALL_LOAD_STORE IBS_OP_STORE IBS_OP_L1_DTLB_HITS "
		  "IBS_OP_DATA_HITS IBS_OP_L1_DTLB_4K");
	expect_op(0, 0, BIT(0) | BIT(17) | BIT(4) | BIT(8) | BIT(9) | BIT(11) | BIT(12),
		  "IBS_OP_ALL IBS_OP_ALL_LOAD_STORE IBS_OP_LOAD IBS_OP_L1_DTLB_HITS "
		  "IBS_OP_DATA_HITS IBS_OP_MISALIGNED_DATA_ACC IBS_OP_BANK_CONF_LOAD "
		  "IBS_OP_FORWARD IBS_OP_CANCELLED IBS_OP_L1_DTLB_2M");
	expect_op(0, 0, BIT(1) | BIT(17) | BIT(5) | BIT(10) | BIT(11) | BIT(13) | BIT(14),
		  "IBS_OP_ALL IBS_OP_ALL_LOAD_STORE IBS_OP_STORE IBS_OP_L1_DTLB_HITS "
		  "IBS_OP_DATA_HITS IBS_OP_BANK_CONF_STORE IBS_OP_DCUC_MEM_ACC "
		  "IBS_OP_DCWC_MEM_ACC IBS_OP_L1_DTLB_1G");
	expect_op(0, 0, BIT(0) | BIT(17) | BIT(2) | BIT(6) | BIT(15) | BIT(16),
		  "IBS_OP_ALL IBS_OP_ALL_LOAD_STORE IBS_OP_LOAD "
		  "IBS_OP_L1_DTLB_MISS_L2_DTLB_HIT IBS_OP_DATA_HITS IBS_OP_LOCKED "
		  "IBS_OP_MAB_HIT IBS_OP_L2_DTLB_2M");
	expect_op(0, 0, BIT(1) | BIT(17) | BIT(2) | BIT(3),
		  "IBS_OP_ALL IBS_OP_ALL_LOAD_STORE IBS_OP_STORE IBS_OP_L1_L2_DTLB_MISS "
		  "IBS_OP_DATA_HITS");
}

#define MISSED "IBS_OP_ALL IBS_OP_ALL_LOAD_STORE IBS_OP_LOAD IBS_OP_DATA_CACHE_MISS "

Test(ext, the_northbridge_tells_where_missed_loads_came_from)
{
	const uint64_t load = BIT(0) | BIT(7) | 40ULL << 32;

	choose_all();
	/* it says nothing reliable of stores and hits, nor without a source */
	expect_op(0, 3, BIT(1) | BIT(7),
		  "IBS_OP_ALL IBS_OP_ALL_LOAD_STORE IBS_OP_STORE IBS_OP_DATA_CACHE_MISS");
	expect_op(0, 0, load, MISSED "IBS_OP_DC_LOAD_LAT=40");
	expect_op(0, 1, load,
		  MISSED "IBS_OP_DC_LOAD_LAT=40 IBS_OP_NB_LOCAL_ONLY IBS_OP_NB_LOCAL_L3 "
			 "IBS_OP_NB_LOCAL_CACHE_LAT=40");
	expect_op(0, 2 | BIT(4), load,
		  MISSED "IBS_OP_DC_LOAD_LAT=40 IBS_OP_NB_REMOTE_ONLY "
			 "IBS_OP_NB_REMOTE_CACHE IBS_OP_NB_CACHE_MODIFIED "
			 "IBS_OP_NB_REMOTE_CACHE_LAT=40");
	expect_op(0, 2 | BIT(5), load,
		  MISSED
		  "IBS_OP_DC_LOAD_LAT=40 IBS_OP_NB_LOCAL_ONLY IBS_OP_NB_LOCAL_CACHE "
		  "IBS_OP_NB_CACHE_OWNED IBS_OP_NB_LOCAL_CACHE_LAT=40");
	expect_op(0, 3, load,
		  MISSED
		  "IBS_OP_DC_LOAD_LAT=40 IBS_OP_NB_LOCAL_ONLY IBS_OP_NB_LOCAL_DRAM "
		  "IBS_OP_NB_LOCAL_CACHE_LAT=40");
	expect_op(0, 7 | BIT(4), load,
		  MISSED "IBS_OP_DC_LOAD_LAT=40 IBS_OP_NB_REMOTE_ONLY "
			 "IBS_OP_NB_REMOTE_OTHER IBS_OP_NB_REMOTE_CACHE_LAT=40");
}

Test(ext, only_chosen_events_are_counted)
{
	cr_assert_eq(coll_ext_parse(&x, "ibs:fetch:IBS_FETCH_COMPLETED:50000:0", &err),
		     0);
	cr_expect(x.setup[COLL_EXT_IBS_FETCH].wanted);
	cr_expect_not(x.setup[COLL_EXT_IBS_OP].wanted);
	expect_fetch(BIT(DONE), "IBS_FETCH_COMPLETED");
	expect_fetch(BIT(IC_MISS), "");
}

Test(ext, samples_that_cannot_be_used_are_told)
{
	const uint64_t regs[] = { 0, 0, BIT(38), 0, 0 };
	struct coll_ext_sample s = { COLL_EXT_IBS_OP, COLL_IBS_CAP_RIP_INVALID, 5, regs };
	struct coll_ext_hit hits[COLL_EXT_MAX_EVENTS];
	CLEANUP(strbuf_fini) struct strbuf stats = { 0 };
	size_t nr;

	cr_expect_eq(coll_ext_derive(&x, &s, hits, &nr), COLL_EXT_UNASKED);
	cr_assert_eq(coll_ext_parse(&x, "ibs:op:IBS_OP_ALL:50000:1", &err), 0);
	cr_expect_eq(coll_ext_derive(&x, &s, hits, &nr), COLL_EXT_INVALID);
	s.caps = 0; /* family 10h does not have the bit: it means nothing there */
	cr_expect_eq(coll_ext_derive(&x, &s, hits, &nr), COLL_EXT_TAKEN);
	s.nr = 4;
	cr_expect_eq(coll_ext_derive(&x, &s, hits, &nr), COLL_EXT_INCOMPLETE);
	s = (struct coll_ext_sample){ COLL_EXT_IBS_FETCH, 0, 3, regs };
	cr_expect_eq(coll_ext_derive(&x, &s, hits, &nr), COLL_EXT_UNASKED);
	cr_expect_eq(nr, 0);
	coll_ext_print_stats(&x, &stats);
	cr_expect_str_eq(
		strbuf_str(&stats),
		"ibs: 1 samples, 1 incomplete, 1 without a valid address, 2 of a "
		"kind not asked for, 1 derived events");
}

Test(ext, counts_and_unit_masks_must_agree)
{
	cr_assert_eq(coll_ext_parse(
			     &x, "ibs:fetch:IBS_FETCH_ALL:50000:0|op:IBS_OP_ALL:250000:1",
			     &err),
		     0);
	cr_expect_eq(x.setup[COLL_EXT_IBS_OP].count, 250000);
	cr_expect_eq(x.setup[COLL_EXT_IBS_OP].unit_mask, 1);
	cr_expect_eq(coll_ext_event(&x, "IBS_OP_LOAD:250000:1", &err), 0);
	cr_expect_eq(coll_ext_event(&x, "IBS_OP_STORE:250000:0", &err), -EINVAL);
	cr_expect_eq(coll_ext_event(&x, "IBS_OP_STORE:250001:1", &err), -EINVAL);
	cr_expect(strstr(err.msg, "250000:1"));
	cr_expect_eq(coll_ext_event(&x, "IBS_OP_LOAD:250000:1", &err), -EINVAL);
	cr_expect(strstr(err.msg, "twice"));
	cr_expect_eq(x.events.len, 3);
}

Test(ext, arguments_that_make_no_sense_are_refused)
{
	static const char *const wrong[] = {
		"",
		"x",
		"ib",
		"ibsx:fetch:IBS_FETCH_ALL:50000:0",
		"ibs",
		"ibs:",
		"ibs:fetch",
		"ibs:fetch:IBS_FETCH_ALL",
		"ibs:fetch:IBS_FETCH_ALL:50000",
		"ibs:fetch:IBS_FETCH_ALL::0",
		"ibs:fetch:IBS_FETCH_ALL:50000:",
		"ibs:fetch:IBS_FETCH_ALL:50000:0:1",
		"ibs:fetch:IBS_FETCH_ALL:50000:1",
		"ibs:fetch:IBS_FETCH_ALL:0x100000:0",
		"ibs:op:IBS_OP_ALL:0x8000000:0",
		"ibs:fetch:IBS_FETCH_ALL:-1:0",
		"ibs:fetch::50000:0",
		"ibs:fetch:,,:50000:0",
		"ibs:op:IBS_FETCH_ALL:50000:0",
		"ibs:both:IBS_FETCH_ALL:50000:0",
		"ibs:fetch:IBS_FETCH_ALL:50000:0|",
		"ibs:|fetch:IBS_FETCH_ALL:50000:0",
		"ibs:fetch:ibs_fetch_all:50000:0",
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		cr_expect_eq(coll_ext_parse(&x, wrong[i], &err), -EINVAL, "%s", wrong[i]);
		cr_expect_neq(err.msg[0], '\0');
		coll_ext_fini(&x);
		setup();
	}
	cr_expect_eq(coll_ext_event(&x, "IBS_OP_ALL:50000:0:1:0", &err), -EINVAL);
	cr_expect_not(coll_ext_knows("cycles:1000"));
	cr_expect_not(coll_ext_knows("IBS_OP_ALLES"));
}
