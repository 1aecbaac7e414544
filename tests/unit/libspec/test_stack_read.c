/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tests/unit/libspec/stack_table.h"

enum { NR = 50 };

static struct scratch s;
/* A sound table of NR nodes, for tests to damage. */
static struct {
	struct spec_stack_header h;
	struct spec_stack_node nodes[NR];
} file;

static void setup(void)
{
	s = scratch_new();
	memcpy(file.h.magic, SPEC_STACK_MAGIC, sizeof(file.h.magic));
	file.h.version = SPEC_STACK_VERSION;
	file.h.node_bytes = sizeof(struct spec_stack_node);
	file.h.nr = NR;
	for (uint32_t i = 1; i < NR; i++)
		file.nodes[i] = table_frame(i);
}

static void teardown(void)
{
	scratch_fini(&s);
}

TestSuite(stack_read, .init = setup, .fini = teardown);

static int read_rc(struct err *err)
{
	CLEANUP(spec_stacks_fini) struct spec_stacks t = { 0 };
	CLEANUP(close_fd) int fd = spec_stacks_open(s.fd, err);

	return fd < 0 ? fd : spec_stacks_read(fd, UINT32_MAX, &t, err);
}

/* Of the @len first bytes, @nr nodes make sense. */
static void expect_nodes(size_t len, uint32_t nr)
{
	CLEANUP(spec_stacks_fini) struct spec_stacks t = { 0 };

	table_put(&s, &file, len);
	t = table_read(&s);
	cr_expect_eq(t.nr, nr, "%u", t.nr);
	cr_expect_eq(t.damaged, file.h.nr - nr);
	cr_expect(table_same(t.nodes[0], (struct spec_stack_node){ 0 }));
	cr_expect_eq(table_lost(&t, t.nr), 0);
}

Test(stack_read, a_session_may_have_no_table)
{
	cr_expect_eq(spec_stacks_open(s.fd, NULL), -ENOENT);
}

Test(stack_read, reads_all_that_is_sound)
{
	file.h.separate = SPEC_STACK_KERNEL;
	table_put(&s, &file, sizeof(file));
	CLEANUP(spec_stacks_fini) struct spec_stacks t = table_read(&s);
	cr_expect_eq(t.separate, SPEC_STACK_KERNEL);
	expect_nodes(sizeof(file), NR);
	file.h.nr = 1;
	expect_nodes(sizeof(file), 1);
}

Test(stack_read, node_0_is_no_frame_whatever_the_file_says)
{
	file.nodes[0] = table_frame(7);
	expect_nodes(sizeof(file), NR);
}

Test(stack_read, leaves_out_a_node_that_makes_no_sense_and_all_behind)
{
	static const struct spec_stack_node bad[] = {
		{ 0 },                                /* a hole */
		{ 20, 1, 0x100 },                     /* its own caller */
		{ 21, 1, 0x100 },                     /* a caller behind it */
		{ UINT32_MAX, 1, 0x100 },             /* */
		{ 19, 0, 0 },                         /* an end without a number */
		{ 0, 0, SPEC_STACK_MAX_END + 1 },     /* a frame without its image */
		{ 0, 0, SPEC_STACK_EXACT },           /* */
		{ 19, SPEC_STACK_MAX_IMAGES, 0x100 }, /* no image's number */
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		file.nodes[20] = bad[i];
		expect_nodes(sizeof(file), 20);
	}
	file.nodes[20] = table_frame(20);
	file.nodes[1] = bad[0];
	expect_nodes(sizeof(file), 1);
}

Test(stack_read, leaves_out_nodes_beyond_the_file)
{
	for (size_t len = 0; len < 33; len++)
		expect_nodes(spec_stack_len(30) + len, 30 + (uint32_t)len / 16);
	expect_nodes(spec_stack_len(0), 1);
	file.h.nr = UINT32_MAX;
	expect_nodes(sizeof(file), NR);
}

Test(stack_read, reads_no_more_nodes_than_it_may)
{
	CLEANUP(spec_stacks_fini) struct spec_stacks t = { 0 };
	CLEANUP(close_fd) int fd = -1;
	struct err err = { 0 };

	table_put(&s, &file, sizeof(file));
	fd = spec_stacks_open(s.fd, &err);
	cr_assert_eq(spec_stacks_read(fd, 10, &t, &err), 0, "%s", err.msg);
	cr_expect_eq(t.nr, 10);
	cr_expect_eq(t.damaged, NR - 10);
}

Test(stack_read, sees_no_node_that_the_header_does_not_count)
{
	file.h.nr = 30;
	expect_nodes(sizeof(file), 30);
}

Test(stack_read, refuses_what_is_no_table)
{
	struct err err = { 0 };

	for (size_t len = 0; len < sizeof(file.h); len++) {
		table_put(&s, &file, len);
		cr_expect_eq(read_rc(&err), -EBADMSG, "%zu bytes", len);
	}
	cr_expect(strstr(err.msg, "stacks/frames: is no table"), "%s", err.msg);
	file.h.magic[0] = 'o';
	table_put(&s, &file, sizeof(file));
	cr_expect_eq(read_rc(NULL), -EBADMSG);
	file.h.magic[0] = 'O';
	file.h.version = 2;
	table_put(&s, &file, sizeof(file));
	cr_expect_eq(read_rc(&err), -EBADMSG);
	cr_expect(strstr(err.msg, "another version"), "%s", err.msg);
	file.h.version = 1;
	file.h.node_bytes = 15;
	table_put(&s, &file, sizeof(file));
	cr_expect_eq(read_rc(NULL), -EBADMSG);
	file.h.node_bytes = 16;
	file.h.nr = 0;
	table_put(&s, &file, sizeof(file));
	cr_expect_eq(read_rc(NULL), -EBADMSG);
	file.h.nr = (uint64_t)UINT32_MAX + 1;
	table_put(&s, &file, sizeof(file));
	cr_expect_eq(read_rc(&err), -EBADMSG);
	cr_expect(strstr(err.msg, "4294967296 nodes"), "%s", err.msg);
}

Test(stack_read, a_sparse_file_costs_what_it_takes_on_the_disk)
{
	struct rusage before, after;
	CLEANUP(spec_stacks_fini) struct spec_stacks t = { 0 };

	file.h.nr = UINT32_MAX;
	table_put(&s, &file, sizeof(file));
	cr_assert_eq(truncate(strcat(s.path, "/stacks/frames"),
			      (off_t)spec_stack_len(UINT32_MAX)),
		     0);
	getrusage(RUSAGE_SELF, &before);
	t = table_read(&s);
	getrusage(RUSAGE_SELF, &after);
	*strstr(s.path, "/stacks") = '\0';
	cr_expect_eq(t.nr, NR);
	cr_expect_eq(t.damaged, UINT32_MAX - NR);
	cr_expect_lt(after.ru_maxrss - before.ru_maxrss, 16 << 10, "KiB");
}

Test(stack_read, more_nodes_than_are_read_at_once)
{
	enum { MANY = 200000 };
	struct spec_stack_writer *w = table_open(&s, 64 << 20);

	table_grow_to(w, MANY);
	spec_stack_writer_free(w);
	CLEANUP(spec_stacks_fini) struct spec_stacks t = table_read(&s);
	cr_expect_eq(t.nr, MANY);
	cr_expect_eq(table_lost(&t, MANY), 0);
}

Test(stack_read, every_end_has_a_text)
{
	static const char *const texts[] = {
#define END(number, id, text) [number] = text,
#include "libspec/stack/stack_end_list.h"
#undef END
	};

	for (uint64_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i])
			cr_expect_str_eq(spec_stack_end_text(i), texts[i]);
		else
			cr_expect_null(spec_stack_end_text(i));
	cr_expect_str_eq(spec_stack_end_text(5), "depth limit");
	cr_expect_null(spec_stack_end_text(0));
	cr_expect_null(spec_stack_end_text(SPEC_STACK_MAX_END + 1));
	cr_expect_null(spec_stack_end_text(UINT64_MAX));
	cr_expect_leq(sizeof(texts) / sizeof(texts[0]) - 1, SPEC_STACK_MAX_END);
}
