/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "libspec/sample/sample_read.h"
#include "tests/unit/libspec/scratch.h"

enum { SIZE = 128, LEN = 104 + 20 * SIZE };

/* A file as the format says, with @nr nodes of key i * 16 and value i + 1. */
struct sample_bytes {
	struct spec_sample_header header;
	struct spec_sample_descr descr;
	struct spec_sample_node nodes[SIZE];
	uint32_t table[SIZE];
};

static struct sample_bytes make(uint32_t nr)
{
	struct sample_bytes b = {
		.header = { .magic = { 'D', 'A', 'E', '\n' },
			    .version = 0x13,
			    .cpu_type = 4,
			    .count = 100000,
			    .mtime = 12345 },
		.descr = { .size = SIZE, .current_size = nr + 1 },
	};

	for (uint32_t i = 0; i < nr; i++)
		b.nodes[i + 1] =
			(struct spec_sample_node){ .key = i * 16, .value = i + 1 };
	memset(b.table, 0xee, sizeof(b.table)); /* readers do not look at it */
	return b;
}

static int open_bytes(const struct scratch *s, const void *data, size_t len,
		      struct spec_sample_reader *r, struct err *err)
{
	scratch_write(s, "f", data, len);
	return spec_sample_open(s->fd, "f", r, err);
}

Test(sample_read, gives_header_nodes_and_total)
{
	CLEANUP(scratch_fini) struct scratch s = scratch_new();
	CLEANUP(spec_sample_fini) struct spec_sample_reader r = { 0 };
	struct sample_bytes b = make(100);
	struct spec_sample_node nodes[64];
	uint64_t total = 0;

	cr_assert_eq(open_bytes(&s, &b, sizeof(b), &r, NULL), 0);
	cr_expect_eq(r.nr_nodes, 100);
	cr_expect_eq(r.header.mtime, 12345);
	cr_expect_eq(spec_sample_read(&r, 0, nodes, 64, NULL), 64);
	cr_expect_eq(nodes[63].key, 63 * 16);
	cr_expect_eq(nodes[63].value, 64);
	cr_expect_eq(spec_sample_read(&r, 64, nodes, 64, NULL), 36);
	cr_expect_eq(nodes[35].value, 100);
	cr_expect_eq(spec_sample_read(&r, 100, nodes, 64, NULL), 0);
	cr_expect_eq(spec_sample_read(&r, UINT32_MAX, nodes, 64, NULL), 0);
	cr_assert_eq(spec_sample_total(&r, &total, NULL), 0);
	cr_expect_eq(total, 5050);
}

Test(sample_read, sums_in_64_bits)
{
	CLEANUP(scratch_fini) struct scratch s = scratch_new();
	CLEANUP(spec_sample_fini) struct spec_sample_reader r = { 0 };
	struct sample_bytes b = make(3);
	uint64_t total = 0;

	for (int i = 1; i <= 3; i++)
		b.nodes[i].value = UINT32_MAX;
	cr_assert_eq(open_bytes(&s, &b, sizeof(b), &r, NULL), 0);
	cr_assert_eq(spec_sample_total(&r, &total, NULL), 0);
	cr_expect_eq(total, 3 * (uint64_t)UINT32_MAX);
}

static void expect_total(const void *data, size_t len, uint64_t want)
{
	CLEANUP(scratch_fini) struct scratch s = scratch_new();
	CLEANUP(spec_sample_fini) struct spec_sample_reader r = { 0 };
	struct err err = { 0 };
	uint64_t total = 0;

	cr_assert_eq(open_bytes(&s, data, len, &r, &err), 0, "%s", err.msg);
	cr_assert_eq(spec_sample_total(&r, &total, &err), 0, "%s", err.msg);
	cr_expect_eq(total, want);
}

Test(sample_read, accepts_bytes_behind_the_table)
{
	struct {
		struct sample_bytes b;
		char more[40];
	} f = { .b = make(10) };

	expect_total(&f, LEN + 19, 55);
	expect_total(&f, LEN + 40, 55);
}

Test(sample_read, accepts_a_file_without_all_of_its_table)
{
	struct sample_bytes b = make(10);

	expect_total(&b, LEN - 1, 55);
	expect_total(&b, 104 + 16 * 11, 55);
}

Test(sample_read, accepts_a_size_that_is_no_power_of_two)
{
	struct sample_bytes b = make(10);

	b.descr.size = 100;
	expect_total(&b, 104 + 20 * 100, 55);
}

Test(sample_read, takes_an_empty_file_of_either_kind_for_empty)
{
	struct sample_bytes b = make(0);

	expect_total(&b, sizeof(b), 0);
	b.descr.current_size = 0;
	expect_total(&b, sizeof(b), 0);
}

static void expect_bad(const void *data, size_t len, const char *why)
{
	CLEANUP(scratch_fini) struct scratch s = scratch_new();
	CLEANUP(spec_sample_fini) struct spec_sample_reader r = { 0 };
	struct err err = { 0 };

	cr_expect_eq(open_bytes(&s, data, len, &r, &err), -EBADMSG, "%s", why);
	cr_expect(strstr(err.msg, why), "%s", err.msg);
	cr_expect_eq(strncmp(err.msg, "f: ", 3), 0, "names the file: %s", err.msg);
	cr_expect_eq(r.fd, 0);
}

Test(sample_read, names_what_is_wrong_with_a_damaged_file)
{
	struct sample_bytes b = make(10);

	expect_bad(&b, 0, "cut short");
	expect_bad(&b, 71, "cut short");
	expect_bad(&b, 103, "cut short");
	expect_bad(&b, 104 + 16 * 11 - 1, "cut short");
	b.header.magic[0] = 'X';
	expect_bad(&b, sizeof(b), "not a sample file");
	b = make(10);
	b.header.version = 0x12;
	expect_bad(&b, sizeof(b), "OProfile 0.9");
	b.header.version = 0x14;
	expect_bad(&b, sizeof(b), "version 0x14");
	b = make(10);
	b.descr.current_size = SIZE + 1;
	expect_bad(&b, sizeof(b), "129 of its 128 slots");
	b.descr.current_size = b.descr.size = UINT32_MAX;
	expect_bad(&b, sizeof(b), "cut short");
}

Test(sample_read, refuses_what_is_no_file)
{
	CLEANUP(scratch_fini) struct scratch s = scratch_new();
	struct spec_sample_reader r = { 0 };
	struct err err = { 0 };

	cr_expect_eq(spec_sample_open(s.fd, "none", &r, &err), -ENOENT);
	cr_assert_eq(mkdirat(s.fd, "dir", 0700), 0);
	cr_expect_eq(spec_sample_open(s.fd, "dir", &r, &err), -EBADMSG);
	cr_assert_eq(mkfifoat(s.fd, "fifo", 0600), 0);
	cr_expect_eq(spec_sample_open(s.fd, "fifo", &r, &err), -EBADMSG);
	cr_assert_eq(symlinkat("dir", s.fd, "link"), 0);
	cr_expect_eq(spec_sample_open(s.fd, "link", &r, &err), -ELOOP);
}

Test(sample_read, says_so_when_the_file_shrinks_while_it_is_read)
{
	CLEANUP(scratch_fini) struct scratch s = scratch_new();
	CLEANUP(spec_sample_fini) struct spec_sample_reader r = { 0 };
	struct sample_bytes b = make(100);
	struct err err = { 0 };
	uint64_t total = 7;

	cr_assert_eq(open_bytes(&s, &b, sizeof(b), &r, NULL), 0);
	scratch_write(&s, "f", &b, 200);
	cr_expect_eq(spec_sample_total(&r, &total, &err), -EBADMSG);
	cr_expect(strstr(err.msg, "cut short"), "%s", err.msg);
	cr_expect_eq(total, 7);
}

/* Bytes that this process has read so far. */
static unsigned long long bytes_read(void)
{
	CLEANUP(close_file) FILE *f = fopen("/proc/self/io", "re");
	unsigned long long n = 0;

	cr_assert(f && fscanf(f, "rchar: %llu", &n) == 1);
	return n;
}

Test(sample_read, costs_what_the_file_takes_and_not_what_it_claims)
{
	CLEANUP(scratch_fini) struct scratch s = scratch_new();
	CLEANUP(spec_sample_fini) struct spec_sample_reader r = { 0 };
	struct sample_bytes b = make(100);
	struct spec_sample_node last = { .key = 1, .value = 7 };
	uint64_t total = 0, nodes = 1u << 26;
	CLEANUP(close_fd) int fd = -1;
	unsigned long long before;

	b.descr.size = b.descr.current_size = (uint32_t)nodes;
	scratch_write(&s, "f", &b, sizeof(b));
	fd = openat(s.fd, "f", O_WRONLY | O_CLOEXEC);
	cr_assert_eq(pwrite(fd, &last, sizeof(last),
			    (off_t)(SPEC_SAMPLE_NODES_OFF + (nodes - 1) * sizeof(last))),
		     sizeof(last));
	cr_assert_eq(spec_sample_open(s.fd, "f", &r, NULL), 0);
	before = bytes_read();
	cr_assert_eq(spec_sample_total(&r, &total, NULL), 0);
	cr_expect_geq(total, 5057); /* and what the table was filled with */
	cr_expect_lt(bytes_read() - before, 1 << 20);
	cr_expect_eq(spec_sample_skip(&r, 1), 1);
	cr_expect_gt(spec_sample_skip(&r, 1 << 20), 1 << 20);
	cr_expect_eq(spec_sample_skip(&r, r.nr_nodes), r.nr_nodes);
}
