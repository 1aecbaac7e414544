/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "collector/engine/collect.h"

/* What long runs cost: nothing grows with time. */

/* NOBODY: the collector asks /proc who lives; no machine comes to such a process id. */
enum { STEP = 0x10000, IMAGES = 10000, KEYS = 100, MIB = 1 << 20, NOBODY = 4190000 };

static char dir[64];
static const struct coll_sink_event event = { .name = "TIMER",
					      .count = 1000,
					      .cpu_type = 4 };
static struct coll_kernel_options no_kernel = { .no_vmlinux = true };
static struct coll_collect c;
static int fd;

static void setup(void)
{
	snprintf(dir, sizeof(dir), "%s/opfs-bounds.XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	cr_assert(mkdtemp(dir));
	fd = open(dir, O_RDONLY | O_DIRECTORY);
	cr_assert_eq(coll_collect_init(&c, fd, &event, &no_kernel, NULL, 0, NULL), 0);
	c.separate = 0;
}

static void teardown(void)
{
	coll_collect_fini(&c);
	close(fd);
	file_remove_tree(AT_FDCWD, dir, NULL);
}

TestSuite(bounds, .init = setup, .fini = teardown, .timeout = 1000);

static void take(const struct coll_rec *rec)
{
	cr_assert_eq(coll_collect_take(&c, rec), 0);
}

static void exec_program(uint32_t tgid)
{
	struct coll_rec rec = { .kind = COLL_REC_COMM,
				.tgid = tgid,
				.tid = tgid,
				.comm = { .name = "prog", .exec = true } };

	take(&rec);
}

static void map_image(uint32_t tgid, unsigned nr, uint64_t at)
{
	struct coll_rec rec = { .kind = COLL_REC_MMAP, .tgid = tgid, .tid = tgid };
	char name[64];

	snprintf(name, sizeof(name), "/opt/opfs-test/some/where/image%u", nr);
	rec.mmap = (struct coll_mmap){
		.start = at, .len = STEP, .filename = name, .inode = nr + 1
	};
	take(&rec);
}

static void sample(uint32_t tgid, uint64_t ip)
{
	struct coll_rec rec = { .kind = COLL_REC_SAMPLE,
				.tgid = tgid,
				.tid = tgid,
				.sample = { .ip = ip, .domain = COLL_USER } };

	take(&rec);
}

static void die(uint32_t tgid, uint64_t now_ns)
{
	struct coll_rec rec = {
		.kind = COLL_REC_EXIT, .tgid = tgid, .tid = tgid, .time_ns = now_ns
	};

	take(&rec);
}

static unsigned long rss(void)
{
	CLEANUP(close_file) FILE *f = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	cr_assert(f && fscanf(f, "%*u %lu", &pages) == 1);
	return pages * (unsigned long)sysconf(_SC_PAGESIZE);
}

Test(bounds, ten_thousand_images_and_a_million_addresses_take_less_than_64_mib)
{
	uint64_t random = 88172645463325252ULL;

	exec_program(NOBODY);
	for (unsigned i = 0; i < IMAGES; i++)
		map_image(NOBODY, i, (uint64_t)(i + 1) * STEP);
	for (unsigned i = 0; i < IMAGES; i++)
		for (unsigned k = 0; k < KEYS; k++)
			sample(NOBODY, (uint64_t)(i + 1) * STEP + k * 16);
	/* and all over the place */
	for (unsigned i = 0; i < 20000; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		sample(NOBODY, (1 + random % IMAGES) * STEP + (random >> 32) % KEYS * 16);
	}
	cr_expect_eq(c.stats.value[SPEC_STAT_STORED], (uint64_t)IMAGES * KEYS + 20000);
	cr_expect_leq(c.sink.open, c.sink.max_open);
	cr_log_info("%lu KiB, %u files open of %u", rss() / 1024, c.sink.open, c.sink.nr);
#ifndef __SANITIZE_ADDRESS__
	cr_expect_lt(rss(), 64UL * MIB, "%lu KiB", rss() / 1024);
#endif
}

Test(bounds, mapped_files_of_processes_that_ended_are_forgotten)
{
	size_t most = 0;

	for (unsigned i = 0; i < 60000; i++) {
		uint32_t tgid = NOBODY + i % 1000;
		uint64_t now_ns = (uint64_t)(i + 1) * 1000000;

		exec_program(tgid);
		map_image(tgid, i, STEP);
		die(tgid, now_ns);
		coll_tasks_sweep(&c.tasks, now_ns);
		coll_collect_settle(&c);
		if (c.images.sightings.used > most)
			most = c.images.sightings.used;
	}
	cr_expect_leq(most, 8192, "%zu at once", most);
	cr_expect_leq(c.tasks.by_tgid.used, 1000);
}

Test(bounds, images_of_a_session_before_are_forgotten)
{
	CLEANUP(close_fd) int next = -1;

	for (unsigned i = 0; i < 500; i++) {
		exec_program(NOBODY + i);
		map_image(NOBODY + i, i, STEP);
		sample(NOBODY + i, STEP + 16);
		if (i)
			die(NOBODY + i, 1000);
	}
	coll_tasks_sweep(&c.tasks, 2000);
	cr_expect_eq(c.images.paths.used, 500);
	cr_assert_eq(mkdirat(fd, "next", 0755), 0);
	next = openat(fd, "next", O_RDONLY | O_DIRECTORY);
	coll_collect_move(&c, next);
	/* the process that lives goes on, in the new session */
	cr_expect_eq(c.images.paths.used, 1);
	sample(NOBODY, STEP + 32);
	cr_expect_eq(c.stats.value[SPEC_STAT_STORED], 1);
	coll_collect_settle(&c);
	cr_expect_eq(faccessat(next, "images", F_OK, 0), 0);
	cr_expect_eq(faccessat(next, "tasks", F_OK, 0), 0);
	coll_sink_fini(&c.sink);
}

Test(bounds, sample_files_are_remembered_up_to_a_limit)
{
	c.separate = COLL_SEPARATE_THREAD;
	c.sink.max_open = 8;
	exec_program(NOBODY);
	map_image(NOBODY, 1, STEP);
	for (uint32_t tid = 0; tid < 70000; tid++) {
		struct coll_rec rec = { .kind = COLL_REC_SAMPLE,
					.tgid = NOBODY,
					.tid = 1000 + tid % 66000,
					.sample = { .ip = STEP, .domain = COLL_USER } };

		take(&rec);
	}
	cr_expect_eq(c.stats.value[SPEC_STAT_STORED], 70000);
	cr_expect_leq(c.sink.nr, 65536 + 8);
}

static unsigned sample_files(const char *path)
{
	CLEANUP(strbuf_fini) struct strbuf full = { 0 };
	unsigned nr = 0;
	DIR *list;

	strbuf_printf(&full, "%s/%s", dir, path);
	list = opendir(strbuf_str(&full));
	cr_assert(list);
	while (readdir(list))
		nr++;
	closedir(list);
	return nr - 2; /* . and .. */
}

Test(bounds, threads_beyond_max_files_share_one_file_and_no_sample_is_lost)
{
	enum { MAX = 20, THREADS = 1000, ROUNDS = 3 };

	c.separate = COLL_SEPARATE_THREAD | COLL_SEPARATE_CPU;
	c.sink.max_separated = MAX;
	exec_program(NOBODY);
	map_image(NOBODY, 1, STEP);
	for (uint32_t i = 0; i < ROUNDS * THREADS; i++) {
		struct coll_rec rec = { .kind = COLL_REC_SAMPLE,
					.tgid = NOBODY,
					.tid = NOBODY + i % THREADS,
					.sample = { .ip = STEP, .domain = COLL_USER } };

		take(&rec);
	}
	coll_collect_settle(&c);
	cr_expect_eq(c.stats.value[SPEC_STAT_STORED], ROUNDS * THREADS);
	/* who had a file goes on in it */
	cr_expect_eq(c.stats.value[SPEC_STAT_FOLDED], ROUNDS * (THREADS - MAX));
	cr_expect_eq(c.sink.nr, MAX + 1);
	cr_expect_eq(sample_files(
			     "{root}/opt/opfs-test/some/where/image1/{dep}/{root}/opt/"
			     "opfs-test/some/where/image1"),
		     MAX + 1);
}
