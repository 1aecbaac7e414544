/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "collector/engine/collect.h"
#include "collector/engine/resolve.h"
#include "collector/store/arcs.h"
#include "libspec/sample/sample_write.h"
#include "tests/unit/collector/collecting.h"
#include "tests/unit/collector/stack_dump.h"

TestSuite(stacks, .init = collecting_begin, .fini = collecting_end);

/* The stacks there are, and the arcs that they make, once the session is closed. */
static void expect_stacks(const char *want)
{
	CLEANUP(strbuf_fini) struct strbuf got = { 0 };
	struct err err = { 0 };

	cr_assert_eq(stack_dump(session_fd, NULL, &got, &err), 0, "%s", err.msg);
	cr_expect_str_eq(strbuf_str(&got), want);
	cr_expect_eq(stat_of(SPEC_STAT_STORED),
		     stat_of(SPEC_STAT_STACKS) + stat_of(SPEC_STAT_LOST_STACKFILE));
}

/* One of them, and how often. */
static void expect_stack(const char *stack, uint64_t count)
{
	CLEANUP(strbuf_fini) struct strbuf got = { 0 };
	struct err err = { 0 };
	char line[256];

	snprintf(line, sizeof(line), "%s %" PRIu64 "\n", stack, count);
	cr_assert_eq(stack_dump(session_fd, NULL, &got, &err), 0, "%s", err.msg);
	cr_expect(strstr(strbuf_str(&got), line), "%s", line);
}

static void make_arcs(void)
{
	struct coll_arcs arcs;
	struct err err = { 0 };

	coll_stack_sink_close(&c.stacks);
	cr_assert_eq(coll_arcs_close(session_fd, &c.stats, &arcs, &err), 0, "%s",
		     err.msg);
	cr_expect(arcs.derived);
	cr_expect_eq(arcs.lost, 0, "%s", arcs.why.msg);
}

Test(stacks, counts_an_arc_less_than_frames_from_caller_to_callee)
{
	const uint64_t ips[] = { (uint64_t)PERF_CONTEXT_KERNEL,
				 0xffffffff81000010,
				 (uint64_t)PERF_CONTEXT_USER,
				 0x500020,
				 0xdead0000,
				 0x400030 };

	c.callgraph = true;
	sample_in(10, COLL_KERNEL, 0xffffffff81000010, ips, 6);
	expect_stacks("prog+1030;[unknown frame];lib.so+20!;"
		      "no-vmlinux+7fffffff81000010! 1\n");
	make_arcs();
	cr_expect_eq(counted("{kern}/no-vmlinux/{dep}/{kern}/no-vmlinux" LEAF,
			     0xffffffff81000010),
		     1);
	cr_expect_eq(counted(ALONE("lib/lib.so") "{cg}/{kern}/no-vmlinux" LEAF,
			     0x20ULL << 32 | 0x81000010),
		     1);
	cr_expect_eq(counted(ALONE("bin/prog") "{cg}/{root}/lib/lib.so" LEAF,
			     0x1030ULL << 32 | 0x20),
		     1);
	cr_expect_eq(stat_of(SPEC_STAT_ARCS), 2);
	cr_expect_eq(stat_of(SPEC_STAT_LOST_BT_NO_MAPPING), 1);
	expect_balance();
}

/* A sample in the process 10 whose callers are the addresses, all of user code. */
static void call_from(uint64_t ip, const uint64_t *callers, size_t nr, bool cut)
{
	uint64_t ips[64] = { (uint64_t)PERF_CONTEXT_USER, ip };

	memcpy(ips + 2, callers, nr * sizeof(*callers));
	TELL(10, SAMPLE,
	     .sample = { .ip = ip,
			 .domain = COLL_USER,
			 .ips = ips,
			 .nr_ips = nr + 2,
			 .cut = cut });
}
#define CALL_FROM(cut, ip, ...)                                                          \
	call_from(ip, (const uint64_t[]){ __VA_ARGS__ },                                 \
		  sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t), cut)

Test(stacks, a_session_without_call_chains_has_no_stacks)
{
	CALL_FROM(false, 0x400010, 0x400020);
	cr_expect_eq(stat_of(SPEC_STAT_STORED), 1);
	cr_expect_neq(faccessat(session_fd, "stacks", F_OK, 0), 0);
}

Test(stacks, equal_stacks_are_one_node_and_recursions_are_as_deep_as_they_were)
{
	c.callgraph = true;
	for (int i = 0; i < 3; i++)
		CALL_FROM(false, 0x400010, 0x400020, 0x400030);
	CALL_FROM(false, 0x400010, 0x400020, 0x400020, 0x400020, 0x400030);
	CALL_FROM(false, 0x500010, 0x400020, 0x500020, 0x400020, 0x500020);
	expect_stacks("lib.so+20;prog+1020;lib.so+20;prog+1020;lib.so+10! 1\n"
		      "prog+1030;prog+1020;prog+1010! 3\n"
		      "prog+1030;prog+1020;prog+1020;prog+1020;prog+1010! 1\n");
	make_arcs();
	/* a call counts as often as it is in the stack */
	cr_expect_eq(counted(DASH "{root}/bin/prog/{cg}/{root}/bin/prog" LEAF,
			     0x1020ULL << 32 | 0x1020),
		     2);
	cr_expect_eq(counted(DASH "{root}/bin/prog/{cg}/{root}/bin/prog" LEAF,
			     0x1020ULL << 32 | 0x1010),
		     4);
	cr_expect_eq(counted(DASH "{root}/lib/lib.so/{cg}/{root}/bin/prog" LEAF,
			     0x20ULL << 32 | 0x1020),
		     2);
	cr_expect_eq(stat_of(SPEC_STAT_ARCS), 3 * 2 + 4 + 4);
}

/* What a thread's stack has in common with its last one is not looked up. */
Test(stacks, of_threads_that_take_turns_are_as_they_were)
{
	const uint64_t callers[] = { 0x400020, 0x400020, 0x500020, 0x400030 };
	enum { CALLERS = sizeof(callers) / sizeof(callers[0]), THREADS = 20 };

	c.callgraph = true;
	for (uint32_t i = 0; i < 3 * THREADS; i++) {
		uint64_t ips[CALLERS + 2] = { (uint64_t)PERF_CONTEXT_USER, 0x400010 };
		size_t left_out = i % THREADS % CALLERS;
		const struct coll_rec rec = {
			.kind = COLL_REC_SAMPLE,
			.tgid = 10,
			.tid = 10 + i % THREADS,
			.sample = { .ip = 0x400010,
				    .domain = COLL_USER,
				    .ips = ips,
				    .nr_ips = CALLERS + 2 - left_out },
		};

		memcpy(ips + 2, callers + left_out, sizeof(callers) - 8 * left_out);
		cr_assert_eq(coll_collect_take(&c, &rec), 0);
	}
	expect_stacks("prog+1030;lib.so+20;prog+1010! 15\n"
		      "prog+1030;lib.so+20;prog+1020;prog+1010! 15\n"
		      "prog+1030;lib.so+20;prog+1020;prog+1020;prog+1010! 15\n"
		      "prog+1030;prog+1010! 15\n");
}

Test(stacks, tells_why_a_stack_ends_early)
{
	c.callgraph = true;
	CALL_FROM(true, 0x400010, 0x400020);
	CALL_FROM(false, 0x400010, 0x400020, 0xdead0000, 0xdead1000);
	CALL_FROM(true, 0x400010, 0xdead0000); /* that is nearer to what is known */
	CALL_FROM(false, 0x400010, 0xdead0000, 0xdead1000, 0x400020);
	expect_stacks("[depth limit];prog+1020;prog+1010! 1\n"
		      "[no mapping];prog+1010! 1\n"
		      "[no mapping];prog+1020;prog+1010! 1\n"
		      "prog+1020;[unknown frame];prog+1010! 1\n");
	cr_expect_eq(stat_of(SPEC_STAT_STACKS_DEPTH), 1);
	cr_expect_eq(stat_of(SPEC_STAT_STACKS_NO_MAPPING), 2);
	cr_expect_eq(stat_of(SPEC_STAT_LOST_BT_NO_MAPPING), 5);
	cr_expect_eq(stat_of(SPEC_STAT_BT_NO_CALLER), 1);
}

Test(stacks, without_room_new_stacks_are_told_from_those_that_are_known)
{
	uint64_t left;

	c.callgraph = true;
	c.stacks.limit = 8192;
	CALL_FROM(false, 0x400010, 0x400020, 0x400030);
	for (uint64_t i = 0; i < 500; i++)
		CALL_FROM(false, 0x400800 + i);
	cr_expect_eq(stat_of(SPEC_STAT_STACKS_FULL), 0);
	for (uint64_t i = 500; i < 600; i++)
		CALL_FROM(false, 0x400800 + i);
	left = stat_of(SPEC_STAT_STACKS_FULL);
	cr_expect(left > 80 && left < 100);
	CALL_FROM(false, 0x400010, 0x400020, 0x400030);
	CALL_FROM(false, 0x400011, 0x400020, 0x400030);
	cr_expect_eq(stat_of(SPEC_STAT_STACKS_FULL), left + 1);
	expect_stack("[no room for more stacks]", left + 1);
	expect_stack("prog+1030;prog+1020;prog+1010!", 2);
	cr_expect_null(coll_collect_broken(&c), "it was asked for");
	make_arcs();
	cr_expect_eq(stat_of(SPEC_STAT_ARCS), 4);
}

/* The session of the other directory: the collector goes on there. */
static int move_to(char other[])
{
	int next;

	cr_assert(mkdtemp(other));
	next = open(other, O_RDONLY | O_DIRECTORY);
	coll_stack_sink_close(&c.stacks);
	coll_collect_move(&c, next);
	return next;
}

Test(stacks, each_session_has_a_table_of_its_own)
{
	char other[] = "/tmp/opfs-collect.XXXXXX";
	int first = session_fd, second;

	c.callgraph = true;
	CALL_FROM(false, 0x400010, 0x400020);
	CALL_FROM(false, 0x500010, 0x400020);
	second = move_to(other);
	cr_expect_neq(faccessat(second, "stacks", F_OK, 0), 0);
	session_fd = second;
	CALL_FROM(false, 0x500010, 0x400030);
	expect_stacks("prog+1030;lib.so+10! 1\n");
	make_arcs();
	c.stats = (struct spec_stats){
		.value = { [SPEC_STAT_STORED] = 2, [SPEC_STAT_STACKS] = 2 }
	};
	session_fd = first;
	expect_stacks("prog+1020;lib.so+10! 1\nprog+1020;prog+1010! 1\n");
	make_arcs();
	/* and again, when it is added to */
	coll_collect_move(&c, first);
	close(second);
	file_remove_tree(AT_FDCWD, other, NULL);
	CALL_FROM(false, 0x500010, 0x400020);
	c.stats.value[SPEC_STAT_STORED] = c.stats.value[SPEC_STAT_STACKS] = 3;
	expect_stacks("prog+1020;lib.so+10! 2\nprog+1020;prog+1010! 1\n");
	make_arcs();
	cr_expect_eq(stat_of(SPEC_STAT_ARCS), 3);
	cr_expect_eq(counted(DASH "{root}/bin/prog/{cg}/{root}/lib/lib.so" LEAF,
			     0x1020ULL << 32 | 0x10),
		     2);
}

Test(stacks, arcs_of_an_older_version_stay_as_they_are)
{
	const struct spec_sample_header h = { .magic = SPEC_SAMPLE_MAGIC,
					      .version = SPEC_SAMPLE_VERSION };
	const struct spec_sample_node nodes[] = { { 0 }, { .key = 7, .value = 9 } };
	struct coll_arcs arcs;
	struct err err = { 0 };

	cr_assert_eq(spec_sample_replace(session_fd,
					 DASH "{root}/bin/prog/{cg}/{root}/bin/prog" LEAF,
					 &h, nodes, 2, &err),
		     0, "%s", err.msg);
	c.callgraph = true;
	c.stats.value[SPEC_STAT_ARCS] = 9;
	CALL_FROM(false, 0x400010, 0x400020);
	for (int i = 0; i < 2; i++) {
		coll_stack_sink_close(&c.stacks);
		cr_assert_eq(coll_arcs_close(session_fd, &c.stats, &arcs, &err), 0);
		cr_expect_not(arcs.derived);
		CALL_FROM(false, 0x400010, 0x400020);
	}
	cr_expect_eq(counted(DASH "{root}/bin/prog/{cg}/{root}/bin/prog" LEAF, 7), 9);
	cr_expect_eq(stat_of(SPEC_STAT_ARCS), 9);
}

Test(stacks, arcs_that_the_stacks_do_not_make_any_more_go)
{
	c.callgraph = true;
	CALL_FROM(false, 0x500010, 0x400020);
	make_arcs();
	cr_expect_eq(counted(DASH "{root}/bin/prog/{cg}/{root}/lib/lib.so" LEAF,
			     0x1020ULL << 32 | 0x10),
		     1);
	/* libraries by themselves, from now on */
	coll_stack_sink_move(&c.stacks, session_fd);
	c.separate = 0;
	CALL_FROM(false, 0x500010, 0x500020);
	make_arcs();
	cr_expect_eq(counted(DASH "{root}/bin/prog/{cg}/{root}/lib/lib.so" LEAF,
			     0x1020ULL << 32 | 0x10),
		     1);
	cr_expect_eq(counted(ALONE("lib/lib.so") "{cg}/{root}/lib/lib.so" LEAF,
			     0x20ULL << 32 | 0x10),
		     1);
	cr_expect_eq(counted(DASH "{root}/lib/lib.so/{cg}/{root}/lib/lib.so" LEAF,
			     0x20ULL << 32 | 0x10),
		     -1);
}

Test(stacks, a_sample_waits_for_every_image_of_its_stack)
{
	struct coll_image *lib;
	uint64_t at;
	enum spec_stat why;
	const struct coll_place place = { .at = 0x500020 };

	c.callgraph = true;
	/* as if nobody had answered yet which file that is */
	lib = coll_resolve(&c, coll_tasks_find(&c.tasks, 10), &place, &at, &why);
	lib->pending = true;
	CALL_FROM(false, 0x400010, 0x500020, 0x400020);
	CALL_FROM(false, 0x400010, 0x500020, 0x400020);
	CALL_FROM(false, 0x400010, 0x400020);
	cr_expect_eq(stat_of(SPEC_STAT_STORED), 1);
	cr_expect_eq(c.waiting.all.samples, 2);
	expect_stacks("prog+1020;prog+1010! 1\n");
	lib->pending = false;
	c.images.answers++;
	coll_collect_settle(&c);
	expect_stacks("prog+1020;lib.so+20;prog+1010! 2\nprog+1020;prog+1010! 1\n");
	cr_expect_eq(counted(DASH "{root}/bin/prog" LEAF, 0x1010), 3);
	expect_balance();
}

Test(stacks, what_waits_when_a_session_ends_is_in_the_next_one)
{
	char other[] = "/tmp/opfs-collect.XXXXXX";
	const struct coll_place place = { .at = 0x500020 };
	int first = session_fd;
	struct coll_image *lib;
	enum spec_stat why;
	uint64_t at;

	c.callgraph = true;
	lib = coll_resolve(&c, coll_tasks_find(&c.tasks, 10), &place, &at, &why);
	lib->pending = true;
	CALL_FROM(false, 0x400010, 0x500020, 0x400020);
	/* nothing but the stack that waits needs it any more */
	map_file(0x500000, 0, "/lib/other.so", 3);
	session_fd = move_to(other);
	cr_expect_eq(stat_of(SPEC_STAT_TAKEN), 1);
	lib->pending = false;
	c.images.answers++;
	coll_collect_settle(&c);
	expect_stacks("prog+1020;lib.so+20;prog+1010! 1\n");
	expect_balance();
	make_arcs();
	cr_expect_eq(stat_of(SPEC_STAT_ARCS), 2);
	cr_expect_neq(faccessat(first, "stacks", F_OK, 0), 0);
	close(first);
	file_remove_tree(AT_FDCWD, other, NULL);
}

Test(stacks, each_event_of_an_extended_sample_counts_its_stack)
{
	static const struct coll_sink_event events[] = {
		{ .name = "IBS_FETCH_ALL", .count = 50000 },
		{ .name = "IBS_FETCH_COMPLETED", .count = 50000 },
	};
	const uint64_t regs[] = { 1ULL << 50, 0, 0 }; /* completed */
	const struct coll_ext_sample ext = { COLL_EXT_IBS_FETCH, 0, 3, regs };
	const uint64_t ips[] = { (uint64_t)PERF_CONTEXT_USER, 0x400010, 0x400020 };
	struct coll_ext x = { 0 };
	struct err err = { 0 };

	cr_assert_eq(coll_ext_parse(&x,
				    "ibs:fetch:IBS_FETCH_ALL,IBS_FETCH_COMPLETED:50000:0",
				    &err),
		     0, "%s", err.msg);
	c.ext = &x;
	c.sink.events = c.stacks.sink.events = events;
	c.callgraph = true;
	TELL(10, SAMPLE,
	     .sample = { .ip = 0x400010,
			 .domain = COLL_USER,
			 .ips = ips,
			 .nr_ips = 3,
			 .ext = &ext });
	expect_stacks("prog+1020;prog+1010! 2\n");
	cr_expect_eq(stat_of(SPEC_STAT_STORED), 1);
	cr_expect_eq(stat_of(SPEC_STAT_EXT_HITS), 2);
	make_arcs();
	cr_expect_eq(counted(DASH "{root}/bin/prog/{cg}/{root}/bin/prog"
				  "/IBS_FETCH_ALL.50000.0.all.all.all",
			     0x1020ULL << 32 | 0x1010),
		     1);
	coll_ext_fini(&x);
}

static void tell_file(uint64_t handle, const char *path)
{
	TELL(0, ORIGIN,
	     .origin = { .handle = handle,
			 .mmap = { .filename = path, .inode = handle } });
}

Test(stacks, of_the_driver_are_those_of_perf)
{
	static const struct coll_who who = {
		.seq = 1, .app = 1, .start_ns = 5, .execs = 1, .comm = "prog"
	};
	static const struct coll_place places[] = {
		{ .at = 0xffff0000, .kernel = true },
		{ .at = 0xffff8000, .kernel = true },
		{ .handle = 2, .at = 0x20 },
		{ .handle = 77, .at = 1 },
		{ .handle = 1, .at = 0x1010 },
	};
	static const uint64_t ips[] = { (uint64_t)PERF_CONTEXT_KERNEL,
					0xffff0000,
					0xffff8000,
					(uint64_t)PERF_CONTEXT_USER,
					0x500020,
					0xdead0000,
					0x400010 };

	c.tree = false;
	c.callgraph = true;
	tell_file(1, "/bin/prog");
	tell_file(2, "/lib/lib.so");
	for (int cut = 0; cut < 2; cut++) {
		TELL(30, SAMPLE,
		     .sample = { .domain = COLL_KERNEL,
				 .places = places,
				 .nr_places = 5,
				 .cut = cut,
				 .who = &who });
		TELL(10, SAMPLE,
		     .sample = { .domain = COLL_KERNEL,
				 .ip = 0xffff0000,
				 .ips = ips,
				 .cut = cut,
				 .nr_ips = 7 });
	}
	expect_stacks("[depth limit];prog+1010;[unknown frame];lib.so+20!;"
		      "no-vmlinux+ffff8000;no-vmlinux+ffff0000! 2\n"
		      "prog+1010;[unknown frame];lib.so+20!;"
		      "no-vmlinux+ffff8000;no-vmlinux+ffff0000! 2\n");
	make_arcs();
	cr_expect_eq(counted(ALONE("lib/lib.so") "{cg}/{kern}/no-vmlinux" LEAF,
			     0x20ULL << 32 | 0xffff8000),
		     4);
	cr_expect_eq(counted(ALONE("bin/prog") "{cg}/{root}/lib/lib.so" LEAF,
			     0x1010ULL << 32 | 0x20),
		     4);
	cr_expect_eq(stat_of(SPEC_STAT_LOST_BT_NO_MAPPING), 4);
	expect_balance();
}
