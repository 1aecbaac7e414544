/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The writer, compiled with its log of stores: after every one of them the file is what a
 * kill there would leave behind.
 */
#define SPEC_STORE_LOG
#include "libspec/sample/sample_write.c"

#include <criterion/criterion.h>
#include <fcntl.h>

#include "tests/unit/libspec/scratch.h"

spec_store_log spec_store_hook;
void *spec_store_ctx;

static const char path[] = "{root}/a/{dep}/{root}/a/E.1.0.all.all.all";
static const struct spec_sample_header header = { .cpu_type = 4, .count = 1 };

struct log {
	struct scratch replay; /* where what a kill would leave is taken up again */
	uint64_t before;       /* counted by the adds that came back */
	uint32_t count;        /* what the add under way counts */
	size_t stores;
};

static uint64_t read_total(const struct scratch *s)
{
	CLEANUP(spec_sample_fini) struct spec_sample_reader r = { 0 };
	struct err err = { 0 };
	uint64_t total = 0;

	cr_assert_eq(spec_sample_open(s->fd, path, &r, &err), 0, "%s", err.msg);
	cr_assert_eq(spec_sample_total(&r, &total, &err), 0, "%s", err.msg);
	return total;
}

static struct scratch_sums sums_of(const struct scratch *s)
{
	size_t len;
	CLEANUP(free_ptr) char *data = scratch_read(s, path, &len);

	return scratch_sums(data, len);
}

/* Another writer finds the file and goes on: three keys, one of them new. */
static void go_on(struct log *log, uint64_t total)
{
	struct spec_sample_writer *w = NULL;
	struct scratch_sums sums;
	struct err err = { 0 };

	cr_assert_eq(spec_sample_writer_open(log->replay.fd, path, &header, &w, &err), 0,
		     "%s", err.msg);
	cr_assert_eq(spec_sample_add(w, 0, 10, &err), 0);
	cr_assert_eq(spec_sample_add(w, 64, 10, &err), 0);
	cr_assert_eq(spec_sample_add(w, UINT64_MAX - 5, 10, &err), 0);
	spec_sample_writer_free(w);
	sums = sums_of(&log->replay);
	cr_assert_eq(sums.total, total + 30);
	cr_assert_eq(sums.wrong, 0);
	cr_assert_eq(sums.unreachable, 0);
}

static void after_store(void *ctx, const void *base, size_t off, size_t len)
{
	struct log *log = ctx;
	const struct spec_sample_descr *d =
		(const void *)((const char *)base + sizeof(struct spec_sample_header));
	size_t bytes = 104 + 20 * (size_t)d->size;
	struct scratch_sums sums;
	uint64_t total;

	log->stores++;
	cr_assert_leq(off + len, bytes);
	scratch_write(&log->replay, path, base, bytes);
	total = read_total(&log->replay);
	cr_assert(total == log->before || total == log->before + log->count, "store %zu",
		  log->stores);
	sums = scratch_sums(base, bytes);
	cr_assert_eq(sums.wrong, 0, "store %zu", log->stores);
	cr_assert_leq(sums.unreachable, 1, "store %zu", log->stores);
	spec_store_hook = NULL;
	go_on(log, total);
	spec_store_hook = after_store;
}

/* libdb leaves garbage in slots that are not in use. */
static void spoil_unused(const struct scratch *s)
{
	char garbage[16 * 127];
	int fd = openat(s->fd, path, O_WRONLY | O_CLOEXEC);

	memset(garbage, 0xee, sizeof(garbage));
	cr_assert_eq(pwrite(fd, garbage, sizeof(garbage), 104 + 16),
		     (ssize_t)sizeof(garbage));
	close(fd);
}

Test(store_log, every_prefix_is_readable_and_can_be_appended_to)
{
	CLEANUP(scratch_fini) struct scratch s = scratch_new();
	struct log log = { .replay = scratch_new() };
	struct spec_sample_writer *w = NULL;

	cr_assert_eq(spec_sample_writer_open(s.fd, path, &header, &w, NULL), 0);
	spoil_unused(&s);
	spec_store_ctx = &log;
	spec_store_hook = after_store;
	for (uint64_t i = 0; i < 300; i++) {
		uint64_t key = i % 3 ? i << 6
				     : i / 9 * 128; /* some share a chain, some repeat */

		log.count = i == 200 ? UINT32_MAX : (uint32_t)i + 1;
		cr_assert_eq(spec_sample_add(w, key, log.count, NULL), 0);
		log.before += log.count;
	}
	spec_store_hook = NULL;
	spec_sample_writer_free(w);
	cr_expect_eq(read_total(&s), log.before);
	cr_expect_gt(log.stores, 1000);
	cr_expect_eq(sums_of(&s).size, 256, "growth was not met");
	scratch_fini(&log.replay);
}
