/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "collector/engine/collect.h"
#include "collector/who/regions.h"
#include "libspec/session/regions.h"
#include "tests/unit/collector/collecting.h"

TestSuite(collect, .init = collecting_begin, .fini = collecting_end);

Test(collect, counts_samples_by_file_offset)
{
	sample_in(10, COLL_USER, 0x400010, NULL, 0);
	sample_in(10, COLL_USER, 0x400010, NULL, 0);
	sample_in(10, COLL_USER, 0x500020, NULL, 0);
	cr_expect_eq(counted(DASH "{root}/bin/prog" LEAF, 0x1010), 2);
	cr_expect_eq(counted(DASH "{root}/lib/lib.so" LEAF, 0x20), 1);
	expect_balance();
}

Test(collect, passes_over_processes_outside_the_tree)
{
	sample_in(99, COLL_USER, 0x400010, NULL, 0);
	cr_expect_eq(stat_of(SPEC_STAT_TAKEN), 0);
}

Test(collect, keeps_nothing_of_processes_outside_the_tree)
{
	TELL(51, FORK, .parent = { 50, 50 });
	TELL(51, COMM, .comm.name = "x");
	TELL(51, MMAP, .mmap = { .start = 1, .len = 1, .filename = "/x" });
	cr_expect_eq(c.tasks.by_tgid.used, 1);
	/* unless it takes the number of one that was in it */
	TELL(10, FORK, .parent = { 50, 50 });
	sample_in(10, COLL_USER, 0x400010, NULL, 0);
	cr_expect_eq(stat_of(SPEC_STAT_TAKEN), 0);
}

Test(collect, counts_what_it_cannot_store_under_its_reason)
{
	sample_in(10, COLL_USER, 0x999999, NULL, 0);
	sample_in(10, COLL_OTHER, 0x400010, NULL, 0);
	TELL(0, LOST, .lost = 7);
	cr_expect_eq(stat_of(SPEC_STAT_LOST_NO_MAPPING), 1);
	cr_expect_eq(stat_of(SPEC_STAT_LOST_INVALID_DOMAIN), 1);
	cr_expect_eq(stat_of(SPEC_STAT_LOST_RECORDS), 7);
	cr_expect_eq(stat_of(SPEC_STAT_TAKEN), 9);
	expect_balance();
}

Test(collect, knows_who_was_sampled_after_its_number_was_gone)
{
	TELL(10, EXIT, .time_ns = 5);
	sample_in(UINT32_MAX, COLL_KERNEL, 0xffffffff81000000, NULL, 0);
	cr_expect_eq(stat_of(SPEC_STAT_STORED), 1);
	sample_in(99, COLL_USER, 1, NULL, 0); /* somebody else runs there now */
	sample_in(UINT32_MAX, COLL_KERNEL, 0xffffffff81000000, NULL, 0);
	cr_expect_eq(stat_of(SPEC_STAT_STORED), 1);
}

Test(collect, leaves_out_what_image_does_not_name)
{
	char *wanted[] = { (char *)(uintptr_t) "/lib/lib.so" };

	c.images.wanted = wanted;
	c.images.nr_wanted = 1;
	c.filter = true;
	/* images are compared when they are first seen */
	map_file(0x600000, 0, "/lib/lib.so", 3);
	sample_in(10, COLL_USER, 0x400010, NULL, 0);
	sample_in(10, COLL_USER, 0x600010, NULL, 0);
	cr_expect_eq(stat_of(SPEC_STAT_IGNORED_IMAGE), 1);
	cr_expect_eq(stat_of(SPEC_STAT_STORED), 1);
	expect_balance();
}

Test(collect, keeps_two_binaries_of_one_path_apart)
{
	struct coll_mmap two = { .start = 0x700000,
				 .len = 0x1000,
				 .filename = "/lib/two.so",
				 .build_id_len = 20,
				 .build_id = { 1, 2, 3, 4 } };

	TELL(10, MMAP, .mmap = two);
	sample_in(10, COLL_USER, 0x700010, NULL, 0);
	two.build_id[0] = 0xfe;
	TELL(10, MMAP, .mmap = two);
	sample_in(10, COLL_USER, 0x700010, NULL, 0);
	cr_expect_eq(counted(DASH "{root}/lib/two.so" LEAF, 0x10), 1);
	cr_expect_eq(counted(DASH "{root}/lib/two.so#fe020304" LEAF, 0x10), 1);
}

Test(collect, files_anonymous_memory_by_process_and_region_under_a_made_up_range)
{
	static char anon[] = "anon";
	struct spec_image region = { SPEC_IMAGE_ANON, .name = anon, .tgid = 10 };
	CLEANUP(spec_regions_fini) struct spec_regions table = { 0 };
	CLEANUP(strbuf_fini) struct strbuf shown = { 0 };
	char path[256];

	map_file(0x800000, 0, "//anon", 0);
	sample_in(10, COLL_USER, 0x800010, NULL, 0);
	coll_region_hide(0x800000, 0x801000, &region);
	snprintf(path, sizeof(path), DASH "{anon:anon}/10.0x%" PRIx64 ".0x%" PRIx64 LEAF,
		 region.start, region.end);
	cr_expect_eq(counted(path, 0x10), 1);
	cr_expect_eq(region.end - region.start, 0xfff);
	cr_expect_neq(region.start, 0x800000);
	spec_image_show(&region, &shown);
	cr_assert_eq(spec_regions_read(c.images.session_fd, &table, NULL), 0);
	cr_expect(spec_regions_find(&table, strbuf_str(&shown), NULL, &region));
	cr_expect_eq(region.start, 0x800000);
	cr_expect_eq(region.end, 0x800fff);
}

Test(collect, opens_more_files_than_there_are_descriptors_for)
{
	char path[256];

	c.sink.max_open = 2;
	c.separate |= COLL_SEPARATE_THREAD;
	for (int round = 0; round < 3; round++)
		for (uint32_t tgid = 20; tgid < 40; tgid++) {
			if (!round)
				TELL(tgid, FORK, .parent = { 10, 10 });
			sample_in(tgid, COLL_USER, 0x400010, NULL, 0);
			cr_assert_leq(c.sink.open, 2);
		}
	for (int tgid = 20; tgid < 40; tgid++) {
		snprintf(path, sizeof(path),
			 DASH "{root}/bin/prog/TIMER.1000.0.%d.%d.all", tgid, tgid);
		cr_expect_eq(counted(path, 0x1010), 3);
	}
}

/* ---- samples that come with their place */

static struct coll_who who = {
	.seq = 1, .app = 1, .start_ns = 5, .execs = 1, .comm = "prog"
};

static void tell_file(uint64_t handle, const char *path)
{
	TELL(0, ORIGIN,
	     .origin = { .handle = handle,
			 .mmap = { .filename = path, .inode = handle } });
}

static void placed(uint32_t tgid, const struct coll_place *places, size_t nr)
{
	TELL(tgid, SAMPLE,
	     .sample = { .domain = places[0].kernel ? COLL_KERNEL : COLL_USER,
			 .places = places,
			 .nr_places = nr,
			 .who = &who });
}

static void placed_at(uint32_t tgid, uint64_t handle, uint64_t at)
{
	placed(tgid, &(struct coll_place){ .handle = handle, .at = at }, 1);
}

static void switch_task(uint32_t app, uint32_t parent)
{
	who.seq++;
	who.app = app;
	who.parent = parent;
}

Test(collect, files_placed_samples_as_they_are_told)
{
	c.tree = false;
	tell_file(1, "/bin/prog");
	tell_file(2, "/lib/lib.so");
	placed_at(30, 1, 0x10);
	placed_at(30, 2, 0x20);
	placed_at(30, 77, 0x20); /* nobody told what 77 is */
	cr_expect_eq(counted(DASH "{root}/bin/prog" LEAF, 0x10), 1);
	cr_expect_eq(counted(DASH "{root}/lib/lib.so" LEAF, 0x20), 1);
	cr_expect_eq(stat_of(SPEC_STAT_LOST_STREAM), 1);
	expect_balance();
}

Test(collect, knows_a_handle_no_longer_that_has_gone)
{
	c.tree = false;
	tell_file(1, "/bin/prog");
	tell_file(2, "/lib/lib.so");
	placed_at(30, 2, 0x20);
	TELL(0, ORIGIN, .origin = { .handle = 2, .gone = true });
	TELL(0, ORIGIN, .origin = { .handle = 99, .gone = true }); /* never was one */
	placed_at(30, 2, 0x20);
	cr_expect_eq(counted(DASH "{root}/lib/lib.so" LEAF, 0x20), 1);
	cr_expect_eq(stat_of(SPEC_STAT_LOST_STREAM), 1);
	tell_file(2, "/lib/other.so");
	placed_at(30, 2, 0x20);
	cr_expect_eq(counted(DASH "{root}/lib/other.so" LEAF, 0x20), 1);
	expect_balance();
}

Test(collect, keeps_the_application_of_a_task_that_exits)
{
	const struct coll_place place = { .kernel = true, .at = 0x10 };

	c.tree = false;
	tell_file(1, "/bin/prog");
	placed_at(30, 1, 0x10);
	switch_task(0, 0);
	placed(30, &place, 1);
	cr_expect_str_eq(coll_tasks_find(&c.tasks, 30)->exe->path, "/bin/prog");
	/* what it executed after that is not known */
	switch_task(0, 0);
	who.execs++;
	placed(30, &place, 1);
	cr_expect_null(coll_tasks_find(&c.tasks, 30)->exe);
	who.execs--;
}

/* A row of the tasks table. */
static const char *named(uint32_t tgid, uint32_t tid, const struct spec_tasks *t)
{
	const char *name = "-";

	for (size_t i = 0; i < t->nr; i++)
		if (t->rows[i].tgid == tgid && t->rows[i].tid == tid)
			name = t->rows[i].comm;
	return name;
}

Test(collect, names_threads_as_the_source_does_that_tells_who_runs)
{
	static const char *const names[] = { "early", "late" };
	const struct coll_place place = { .handle = 1, .at = 1 };
	const struct coll_rec sampled = {
		.kind = COLL_REC_SAMPLE,
		.tgid = 30,
		.tid = 31,
		.sample = { .places = &place, .nr_places = 1, .who = &who }
	};
	const struct coll_rec ends = {
		.kind = COLL_REC_EXIT, .tgid = 30, .tid = 31, .time_ns = 1
	};
	CLEANUP(spec_tasks_fini) struct spec_tasks table = { 0 };

	c.tree = false;
	c.separate |= COLL_SEPARATE_THREAD;
	c.tasks.threads.wanted = true;
	c.tasks.saved = true;
	tell_file(1, "/bin/prog");
	switch_task(1, 0);
	placed_at(30, 1, 0x10);
	for (size_t i = 0; i < 2; i++) {
		switch_task(1, 0);
		strcpy(who.comm, names[i]);
		cr_assert_eq(coll_collect_take(&c, &sampled), 0);
	}
	cr_assert_eq(coll_collect_take(&c, &ends), 0);
	cr_expect_eq(c.tasks.threads.by_tid.used, 1);
	cr_expect_not(coll_tasks_find(&c.tasks, 30)->dead_ns);
	coll_tasks_sweep(&c.tasks, 2);
	cr_expect_eq(c.tasks.threads.by_tid.used, 0);
	coll_collect_finish(&c);
	cr_assert_eq(spec_tasks_read(session_fd, &table, NULL), 0);
	cr_expect_str_eq(named(30, 30, &table), "prog");
	cr_expect_str_eq(named(30, 31, &table), "late");
}

Test(collect, follows_the_tree_by_parents)
{
	tell_file(1, "/bin/prog");
	tell_file(2, "/bin/opcollect");
	c.root = 4000000; /* no process has this number */
	c.own_inode = 2;
	/* the command: the collector's copy at first */
	coll_tasks_need(&c.tasks, 60)->await_exec = true;
	switch_task(2, c.root);
	placed_at(60, 2, 1);
	cr_expect_eq(stat_of(SPEC_STAT_TAKEN), 0);
	who.execs++;
	switch_task(1, c.root);
	placed_at(60, 1, 1);
	cr_expect_eq(stat_of(SPEC_STAT_TAKEN), 1);
	/* its child, and an orphan that came to the collector */
	switch_task(1, 60);
	placed_at(61, 1, 1);
	switch_task(1, c.root);
	placed_at(62, 1, 1);
	cr_expect_eq(stat_of(SPEC_STAT_TAKEN), 3);
	/* and somebody else's */
	switch_task(1, 4000001);
	placed_at(63, 1, 1);
	cr_expect_eq(stat_of(SPEC_STAT_TAKEN), 3);
	expect_balance();
}

Test(collect, older_children_of_a_process_are_not_its_future_ones)
{
	tell_file(1, "/bin/prog");
	coll_tasks_adopt(coll_tasks_need(&c.tasks, 60));
	c.born_after_ns = 100;
	switch_task(1, 60);
	placed_at(61, 1, 1);
	cr_expect_eq(stat_of(SPEC_STAT_TAKEN), 0);
	who.start_ns = 100;
	switch_task(1, 60);
	placed_at(62, 1, 1);
	cr_expect_eq(stat_of(SPEC_STAT_TAKEN), 1);
}

Test(collect, a_number_that_comes_again_is_another_process)
{
	c.tree = false;
	tell_file(1, "/bin/prog");
	tell_file(2, "/bin/other");
	switch_task(1, 0);
	placed_at(30, 1, 1);
	TELL(30, EXIT, .time_ns = 9, .cpu = UINT32_MAX);
	/* a sample of it that was resolved late is still its own */
	switch_task(1, 0);
	placed_at(30, 1, 2);
	cr_expect_eq(coll_tasks_find(&c.tasks, 30)->dead_ns, 0);
	who.start_ns = 6;
	switch_task(2, 0);
	placed_at(30, 1, 3);
	cr_expect_eq(counted("{root}/bin/other/{dep}/{root}/bin/prog" LEAF, 3), 1);
	cr_expect_eq(counted(DASH "{root}/bin/prog" LEAF, 2), 1);
}

Test(collect, counts_losses_under_the_reason_that_a_source_gives)
{
	TELL(0, LOST, .why = SPEC_STAT_LOST_NESTED, .lost = 4);
	cr_expect_eq(stat_of(SPEC_STAT_LOST_NESTED), 4);
	expect_balance();
}

Test(collect, buries_processes_whose_end_was_lost)
{
	const uint64_t late_ns = 100ULL * 1000000000;

	c.tree = false;
	tell_file(1, "/bin/prog");
	switch_task(1, 0);
	placed_at(INT32_MAX, 1, 1); /* no process has this number */
	TELL(0, LOST, .why = SPEC_STAT_LOST_EVENT_BUFFER, .lost = 1, .time_ns = late_ns);
	coll_collect_settle(&c);
	cr_expect_neq(coll_tasks_find(&c.tasks, INT32_MAX)->dead_ns, 0);
	/* in a saved stream the numbers are others' */
	c.tasks.saved = true;
	placed_at(INT32_MAX - 1, 1, 1);
	TELL(0, LOST, .why = SPEC_STAT_LOST_EVENT_BUFFER, .lost = 1,
	     .time_ns = 2 * late_ns);
	coll_collect_settle(&c);
	cr_expect_eq(coll_tasks_find(&c.tasks, INT32_MAX - 1)->dead_ns, 0);
}

Test(collect, forgets_regions_that_a_source_does_not_use_any_more)
{
	struct coll_rec rec = { .kind = COLL_REC_ORIGIN };

	rec.origin.region = true;
	for (uint64_t i = 0; i < 30000; i++) {
		rec.origin.handle = (1ULL << 32) + i;
		rec.origin.mmap = (struct coll_mmap){ .start = i << 12,
						      .len = 4096,
						      .filename = "[heap]" };
		cr_assert_eq(coll_collect_take(&c, &rec), 0);
		cr_assert(coll_origins_find(&c.origins, rec.origin.handle));
	}
	cr_expect_eq(c.origins.by_handle.used, COLL_ORIGINS_REGIONS);
}

/* A record of a whole machine, in its first second. */
#define DOES(who, what, ...) TELL(who, what, .time_ns = CLOCK_NS_PER_S, __VA_ARGS__)

Test(collect, what_one_user_does_too_much_of_costs_others_nothing)
{
	enum { FLOODER = 5000000 }; /* no process has this number */
	const struct coll_mmap lib = { .start = 0x700000,
				       .len = 0x1000,
				       .filename = "/lib/three.so" };
	uint32_t self = (uint32_t)getpid();
	uint64_t stored;

	c.tree = false;
	c.budget.each = 10;
	DOES(self, COMM, .comm = { .name = "me", .exec = true });
	DOES(self, MMAP, .mmap = { .start = 0x600000, .len = 0x1000, .filename = "/me" });
	for (int i = 0; i < 100; i++)
		DOES(FLOODER, MMAP, .mmap = lib);
	cr_expect_eq(c.stats.value[SPEC_STAT_TASKS_PASSED], 102 - 20);
	DOES(self, MMAP, .mmap = lib);
	sample_in(self, COLL_USER, 0x700010, NULL, 0);
	cr_expect_eq(counted("{root}/me/{dep}/{root}/lib/three.so" LEAF, 0x10), 1);
	/* and who did is read from /proc when he is sampled */
	for (int i = 0; i < 20; i++)
		DOES(self, MMAP, .mmap = lib);
	stored = c.stats.value[SPEC_STAT_STORED];
	sample_in(self, COLL_USER, (uintptr_t)coll_collect_take, NULL, 0);
	cr_expect_eq(c.stats.value[SPEC_STAT_STORED], stored + 1);
}

Test(collect, records_of_tasks_that_were_lost_are_no_samples)
{
	uint64_t taken = c.stats.value[SPEC_STAT_TAKEN], gaps = c.gaps;

	TELL(10, LOST, .lost = 7, .why = SPEC_STAT_TASKS_LOST);
	cr_expect_eq(c.stats.value[SPEC_STAT_TASKS_LOST], 7);
	cr_expect_eq(c.stats.value[SPEC_STAT_TAKEN], taken);
	cr_expect_eq(c.gaps, gaps + 1, "mappings may have changed");
}
