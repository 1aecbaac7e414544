/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "libspec/sample/sample_read.h"
#include "libspec/sample/sample_write.h"
#include "tests/unit/libspec/scratch.h"

static const char path[] = "{root}/a/{dep}/{root}/a/E.1.0.all.all.all";
static const struct spec_sample_header header = {
	.cpu_type = 4, .event = 5, .count = 100000, .unit_mask = 1, .mtime = 99
};

static struct scratch s;

static void setup(void)
{
	s = scratch_new();
}

static void teardown(void)
{
	scratch_fini(&s);
}

TestSuite(sample_write, .init = setup, .fini = teardown);

static struct spec_sample_writer *open_writer(void)
{
	struct spec_sample_writer *w = NULL;
	struct err err = { 0 };

	cr_assert_eq(spec_sample_writer_open(s.fd, path, &header, &w, &err), 0, "%s",
		     err.msg);
	return w;
}

static struct scratch_sums sums(void)
{
	size_t len;
	CLEANUP(free_ptr) char *data = scratch_read(&s, path, &len);

	return scratch_sums(data, len);
}

static void expect_sound(uint32_t size, uint32_t used, uint64_t total)
{
	struct scratch_sums got = sums();

	cr_expect_eq(got.size, size, "size %u", got.size);
	cr_expect_eq(got.used, used, "used %u", got.used);
	cr_expect_eq(got.total, total, "total %llu", (unsigned long long)got.total);
	cr_expect_eq(got.unreachable, 0);
	cr_expect_eq(got.wrong, 0);
}

/* Nothing is left in .new/. */
static void expect_no_leftovers(void)
{
	cr_expect_eq(unlinkat(s.fd, ".new", AT_REMOVEDIR), 0);
}

Test(sample_write, makes_an_empty_file_of_2664_bytes)
{
	size_t len;

	spec_sample_writer_free(open_writer());
	free(scratch_read(&s, path, &len));
	cr_expect_eq(len, 2664);
	expect_sound(128, 1, 0);
	expect_no_leftovers();
}

Test(sample_write, writes_the_header_it_is_given)
{
	CLEANUP(spec_sample_fini) struct spec_sample_reader r = { 0 };

	spec_sample_writer_free(open_writer());
	cr_assert_eq(spec_sample_open(s.fd, path, &r, NULL), 0);
	cr_expect_eq(r.header.cpu_type, 4);
	cr_expect_eq(r.header.event, 5);
	cr_expect_eq(r.header.count, 100000);
	cr_expect_eq(r.header.unit_mask, 1);
	cr_expect_eq(r.header.mtime, 99);
}

Test(sample_write, adds_to_a_key_it_has_and_inserts_one_it_has_not)
{
	struct spec_sample_writer *w = open_writer();

	cr_expect_eq(spec_sample_add(w, 0x1234, 1, NULL), 0);
	cr_expect_eq(spec_sample_add(w, 0x1234, 2, NULL), 0);
	cr_expect_eq(spec_sample_add(w, 0, 4, NULL), 0);
	cr_expect_eq(spec_sample_add(w, UINT64_MAX, 8, NULL), 0);
	cr_expect_eq(spec_sample_add(w, 7, 0, NULL), 0, "nothing to add");
	spec_sample_writer_free(w);
	expect_sound(128, 4, 15);
}

/* The bytes behind the header that libdb's rules give for @nr keys in order. */
static char *expected_bytes(const uint64_t *keys, uint32_t nr, uint32_t size)
{
	size_t len = 104 + 20 * (size_t)size;
	char *data = calloc(1, len);
	uint32_t *descr = (void *)(data + 72),
		 *table = (void *)(data + 104 + 16 * (size_t)size);
	struct spec_sample_node *nodes = (void *)(data + 104);

	descr[0] = size;
	descr[1] = nr + 1;
	for (uint32_t i = 1; i <= nr; i++) {
		uint32_t t = (uint32_t)(keys[i - 1] >> 32) ^ (uint32_t)keys[i - 1];
		uint32_t slot = (t ^ (t >> 8)) & (size - 1);

		nodes[i] = (struct spec_sample_node){ keys[i - 1], 1, table[slot] };
		table[slot] = i;
	}
	return data;
}

static void expect_layout(uint32_t nr, uint32_t size)
{
	CLEANUP(free_ptr) uint64_t *keys = calloc(nr, sizeof(*keys));
	struct spec_sample_writer *w;
	size_t len;

	teardown();
	setup();
	w = open_writer();
	for (uint32_t i = 0; i < nr; i++) {
		keys[i] = (i * 0x9e3779b97f4a7c15u) >> (i % 3 ? 40 : 0);
		cr_assert_eq(spec_sample_add(w, keys[i], 1, NULL), 0);
	}
	spec_sample_writer_free(w);
	CLEANUP(free_ptr) char *want = expected_bytes(keys, nr, size);
	CLEANUP(free_ptr) char *got = scratch_read(&s, path, &len);
	cr_assert_eq(len, 104 + 20 * (size_t)size, "%u keys: %zu bytes", nr, len);
	cr_expect_eq(memcmp(got + 72, want + 72, len - 72), 0, "%u keys", nr);
	expect_no_leftovers();
}

Test(sample_write, lays_nodes_and_table_as_the_format_says)
{
	expect_layout(1, 128);
	expect_layout(126, 128);
	expect_layout(127, 128);
	expect_layout(128, 256);
	expect_layout(255, 256);
	expect_layout(256, 512);
	expect_layout(5000, 8192);
}

Test(sample_write, goes_on_in_a_file_that_exists)
{
	for (uint32_t run = 0; run < 5; run++) {
		struct spec_sample_writer *w = open_writer();

		for (uint64_t key = 0; key < 100 * (run + 1); key++)
			cr_assert_eq(spec_sample_add(w, key * 64, 1, NULL), 0);
		spec_sample_writer_free(w);
	}
	expect_sound(512, 501, 1500);
}

Test(sample_write, saturates_into_a_second_node)
{
	struct spec_sample_writer *w = open_writer();

	cr_expect_eq(spec_sample_add(w, 5, UINT32_MAX, NULL), 0);
	cr_expect_eq(spec_sample_add(w, 5, 1, NULL), 0);
	cr_expect_eq(spec_sample_add(w, 5, 1, NULL), 0);
	spec_sample_writer_free(w);
	expect_sound(128, 3, (uint64_t)UINT32_MAX + 2);
	w = open_writer(); /* the newest is found first after a reopen, too */
	cr_expect_eq(spec_sample_add(w, 5, 1, NULL), 0);
	spec_sample_writer_free(w);
	expect_sound(128, 3, (uint64_t)UINT32_MAX + 3);
}

static int open_rc(const struct spec_sample_header *h, struct err *err)
{
	struct spec_sample_writer *w = NULL;
	int rc = spec_sample_writer_open(s.fd, path, h, &w, err);

	spec_sample_writer_free(w);
	return rc;
}

Test(sample_write, leaves_a_file_of_another_event_or_binary_alone)
{
	struct spec_sample_header other[5];
	struct err err = { 0 };
	size_t len;

	spec_sample_writer_free(open_writer());
	CLEANUP(free_ptr) char *before = scratch_read(&s, path, &len);
	for (int i = 0; i < 5; i++)
		other[i] = header;
	other[0].event++;
	other[1].count++;
	other[2].unit_mask++;
	other[3].mtime++;
	other[4].is_kernel++;
	for (int i = 0; i < 5; i++)
		cr_expect_eq(open_rc(&other[i], &err), -ESTALE, "%d", i);
	cr_expect(strstr(err.msg, "kernel"), "%s", err.msg);
	CLEANUP(free_ptr) char *after = scratch_read(&s, path, &len);
	cr_expect_eq(memcmp(before, after, len), 0);
}

Test(sample_write, refuses_a_damaged_file)
{
	struct err err = { 0 };

	scratch_write(&s, path, "", 0);
	cr_expect_eq(open_rc(&header, &err), -EBADMSG);
	cr_expect(strstr(err.msg, path), "%s", err.msg);
	scratch_write(&s, path, "garbage", 7);
	cr_expect_eq(open_rc(&header, &err), -EBADMSG);
}

/* Whoever may read a file may lock it. */
Test(sample_write, takes_no_notice_of_locks_that_readers_hold)
{
	spec_sample_writer_free(open_writer());
	for (int i = 0; i < 2; i++) {
		CLEANUP(close_fd) int fd = openat(s.fd, path, O_RDONLY | O_CLOEXEC);
		struct spec_sample_writer *w;

		cr_assert_eq(flock(fd, LOCK_EX | LOCK_NB), 0, "writers hold no lock");
		w = open_writer();
		for (uint64_t key = 0; key < 1000; key++)
			cr_assert_eq(spec_sample_add(w, key, 1, NULL), 0);
		spec_sample_writer_free(w);
	}
}

/* A sound file with 50 keys whose table is then destroyed. */
static char *make_broken(size_t *len)
{
	struct spec_sample_writer *w = open_writer();
	char *data;

	for (uint64_t key = 0; key < 50; key++)
		cr_assert_eq(spec_sample_add(w, key << 20, 1, NULL), 0);
	spec_sample_writer_free(w);
	data = scratch_read(&s, path, len);
	memset(data + 104 + 16 * 128, 0xee, 4 * 128);
	for (int i = 0; i < 50; i++) /* chains that end in themselves */
		memcpy(data + 104 + 16 * i + 12, &i, 4);
	return data;
}

Test(sample_write, rebuilds_a_table_that_is_garbage)
{
	size_t len;
	CLEANUP(free_ptr) char *data = make_broken(&len);
	struct spec_sample_writer *w;

	scratch_write(&s, path, data, len);
	w = open_writer();
	cr_expect_eq(spec_sample_add(w, 7 << 20, 1, NULL), 0);
	spec_sample_writer_free(w);
	expect_sound(128, 51, 51);
}

Test(sample_write, lays_a_file_anew_that_only_readers_can_use)
{
	size_t len;
	CLEANUP(free_ptr) char *data = make_broken(&len);
	uint32_t size = 100;

	scratch_write(&s, path, data, 104 + 16 * 51);
	spec_sample_writer_free(open_writer());
	expect_sound(128, 51, 50);

	memcpy(data + 72, &size, 4);
	scratch_write(&s, path, data, 104 + 20 * 100);
	spec_sample_writer_free(open_writer());
	expect_sound(128, 51, 50);

	size = 1 << 30; /* a size that the length does not bear out */
	memcpy(data + 72, &size, 4);
	scratch_write(&s, path, data, len);
	spec_sample_writer_free(open_writer());
	expect_sound(128, 51, 50);
}

Test(sample_write, replaces_a_whole_file)
{
	const struct spec_sample_node nodes[] = { { 0 },
						  { .key = 1, .value = 2, .next = 99 },
						  { .key = 1, .value = 3 },
						  { .key = 7, .value = 4 } };
	struct err err = { 0 };

	for (uint32_t used = 1; used <= 4; used++) {
		cr_assert_eq(spec_sample_replace(s.fd, path, &header, nodes, used, &err),
			     0, "%s", err.msg);
		expect_sound(SPEC_SAMPLE_MIN_NODES, used,
			     used == 4   ? 9
			     : used == 3 ? 5
			     : used == 2 ? 2
					 : 0);
	}
	expect_no_leftovers();
}

Test(sample_write, keeps_what_cannot_be_replaced)
{
	const struct spec_sample_node nodes[] = { { 0 }, { .key = 1, .value = 2 } };
	struct err err = { 0 };

	cr_assert_eq(spec_sample_replace(s.fd, path, &header, nodes, 2, &err), 0);
	cr_expect_eq(spec_sample_replace(s.fd, "{root}/a", &header, nodes, 1, &err),
		     -EISDIR);
	cr_expect_eq(spec_sample_replace(s.fd, path, &header, nodes,
					 SPEC_SAMPLE_MAX_NODES + 1, &err),
		     -EFBIG);
	expect_sound(SPEC_SAMPLE_MIN_NODES, 2, 2);
	expect_no_leftovers();
}

Test(sample_write, keeps_counting_while_a_reader_reads)
{
	struct spec_sample_writer *w = open_writer();
	uint64_t total = 0;

	for (uint64_t key = 0; key < 2000; key++) {
		CLEANUP(spec_sample_fini) struct spec_sample_reader r = { 0 };

		cr_assert_eq(spec_sample_add(w, key * 3, 2, NULL), 0);
		cr_assert_eq(spec_sample_open(s.fd, path, &r, NULL), 0);
		cr_assert_eq(spec_sample_total(&r, &total, NULL), 0);
		cr_assert_eq(total, 2 * (key + 1));
	}
	cr_expect_eq(spec_sample_sync(w, NULL), 0);
	spec_sample_writer_free(w);
}

Test(sample_write, counts_nothing_and_lives_on_when_its_directory_is_gone)
{
	struct spec_sample_writer *w = open_writer();
	struct err err = { 0 };

	for (uint64_t key = 0; key < 127; key++)
		cr_assert_eq(spec_sample_add(w, key, 1, NULL), 0);
	cr_assert_eq(renameat(s.fd, "{root}", s.fd, "elsewhere"), 0);
	cr_expect_eq(spec_sample_add(w, 127, 1, &err), -ENOENT);
	cr_expect(strstr(err.msg, path), "%s", err.msg);
	cr_expect_eq(spec_sample_add(w, 5, 1, NULL), 0, "keys it has can be counted");
	cr_assert_eq(renameat(s.fd, "elsewhere", s.fd, "{root}"), 0);
	cr_expect_eq(spec_sample_add(w, 127, 1, NULL), 0);
	spec_sample_writer_free(w);
	expect_sound(256, 129, 129);
	expect_no_leftovers();
}

Test(sample_write, sweeps_what_a_killed_writer_left_and_nothing_else)
{
	struct stat st;

	cr_expect_eq(spec_sample_sweep(s.fd, NULL), 0, "no .new/");
	scratch_write(&s, ".new/1.1", "x", 1);
	scratch_write(&s, "other", "x", 1);
	cr_expect_eq(spec_sample_sweep(s.fd, NULL), 0);
	cr_expect_neq(fstatat(s.fd, ".new/1.1", &st, 0), 0);
	cr_expect_eq(fstatat(s.fd, "other", &st, 0), 0);
}

/* Adds keys until it is killed; says in @done how many adds came back. */
static void add_for_ever(volatile uint64_t *done)
{
	struct spec_sample_writer *w = NULL;

	if (spec_sample_writer_open(s.fd, path, &header, &w, NULL))
		_exit(1);
	for (uint64_t i = 0;; i++) {
		if (spec_sample_add(w, (i * 0x9e3779b97f4a7c15u) >> 44, 1, NULL))
			_exit(2);
		*done += 1;
	}
}

Test(sample_write, killed_at_any_time_loses_nothing_and_can_go_on)
{
	volatile uint64_t *done = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t slack = 0;

	cr_assert_neq(done, MAP_FAILED);
	for (int round = 0; round < 12; round++) {
		CLEANUP(spec_sample_fini) struct spec_sample_reader r = { 0 };
		struct timespec wait = { .tv_nsec = 300000 * (round + 1) };
		uint64_t total = 0;
		pid_t pid = fork();
		int status;

		cr_assert_geq(pid, 0);
		if (!pid)
			add_for_ever(done);
		nanosleep(&wait, NULL);
		kill(pid, SIGKILL);
		cr_assert_eq(waitpid(pid, &status, 0), pid);
		cr_assert(WIFSIGNALED(status), "the writer failed: %x", status);
		if (spec_sample_open(s.fd, path, &r, NULL) == -ENOENT)
			continue; /* killed before it came to that */
		cr_assert_eq(spec_sample_total(&r, &total, NULL), 0);
		slack++; /* the add that the kill interrupted may count or not */
		cr_assert(total >= *done && total <= *done + slack, "%llu of %llu",
			  (unsigned long long)total, (unsigned long long)*done);
	}
	cr_assert_eq(spec_sample_sweep(s.fd, NULL), 0);
	spec_sample_writer_free(open_writer());
	cr_expect_eq(sums().wrong, 0);
	cr_expect_eq(sums().unreachable, 0);
	expect_no_leftovers();
}
