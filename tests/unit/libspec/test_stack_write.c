/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tests/unit/libspec/stack_table.h"

enum { PLENTY = 64 << 20 };

static struct scratch s;

static void setup(void)
{
	s = scratch_new();
}

static void teardown(void)
{
	scratch_fini(&s);
}

TestSuite(stack_write, .init = setup, .fini = teardown);

Test(stack_write, the_same_frame_below_the_same_caller_is_the_same_node)
{
	struct spec_stack_writer *w = table_open(&s, PLENTY);
	uint32_t a = spec_stack_add(w, 0, 1, 0x100), b = spec_stack_add(w, a, 1, 0x100);

	cr_expect_eq(a, 2);
	cr_expect_eq(b, 3);
	cr_expect_eq(spec_stack_add(w, 0, 1, 0x100), a);
	cr_expect_eq(spec_stack_add(w, a, 1, 0x100), b);
	cr_expect_eq(spec_stack_add(w, b, 1, 0x100), 4, "another caller");
	cr_expect_eq(spec_stack_add(w, 0, 2, 0x100), 5, "another image");
	cr_expect_eq(spec_stack_add(w, 0, 1, 0x101), 6, "another offset");
	cr_expect_eq(spec_stack_add(w, 0, 1, 0x100 | SPEC_STACK_EXACT), 7);
	cr_expect_eq(spec_stack_add(w, 0, 0, SPEC_STACK_FULL), SPEC_STACK_FIRST);
	cr_expect_eq(spec_stack_nr(w), 8);
	spec_stack_writer_free(w);
}

Test(stack_write, frames_that_differ_in_one_thing_are_different_nodes)
{
	struct spec_stack_writer *w = table_open(&s, PLENTY);
	uint32_t nr = 2;

	for (uint32_t i = 1; i < 3000; i++) {
		uint32_t below = spec_stack_add(w, 0, i, 0x100);

		cr_assert_eq(below, nr++);
		cr_assert_eq(spec_stack_add(w, below, 1, 0x100), nr++);
		cr_assert_eq(spec_stack_add(w, 1, 1, i), nr++);
	}
	spec_stack_writer_free(w);
}

Test(stack_write, a_new_table_has_the_node_of_those_without_room)
{
	CLEANUP(spec_stacks_fini) struct spec_stacks t = { 0 };

	spec_stack_writer_free(table_open(&s, PLENTY));
	t = table_read(&s);
	cr_expect_eq(t.nr, 2);
	cr_expect(table_same(t.nodes[1], table_frame(1)));
	cr_expect_eq(t.damaged, 0);
	cr_expect_eq(t.separate, SPEC_STACK_LIB);
}

Test(stack_write, what_is_no_frame_is_refused)
{
	struct spec_stack_writer *w = table_open(&s, PLENTY);
	struct err err = { 0 };

	cr_expect_eq(spec_stack_add(w, 2, 1, 0x100), 0, "its own caller");
	cr_expect_eq(spec_stack_add(w, 0, 0, 0), 0, "no end's number");
	cr_expect_eq(spec_stack_add(w, 0, 0, SPEC_STACK_MAX_END + 1), 0);
	cr_expect_eq(spec_stack_add(w, 0, SPEC_STACK_MAX_IMAGES, 0x100), 0);
	cr_expect_eq(spec_stack_why(w, &err), -EINVAL);
	cr_expect(strstr(err.msg, "no frame"), "%s", err.msg);
	cr_expect_eq(spec_stack_nr(w), 2);
	spec_stack_writer_free(w);
}

Test(stack_write, goes_on_in_a_table_that_exists)
{
	for (uint32_t nr = 2; nr < 5000; nr += 700) {
		CLEANUP(spec_stacks_fini) struct spec_stacks t = { 0 };
		struct spec_stack_writer *w = table_open(&s, PLENTY);

		cr_assert_eq(spec_stack_nr(w), nr, "nothing is lost or added by opening");
		for (uint32_t i = 1; i < nr; i++)
			cr_assert_eq(table_add(w, i), i);
		table_grow_to(w, nr + 700);
		spec_stack_writer_free(w);
		t = table_read(&s);
		cr_assert_eq(t.nr, nr + 700);
		cr_assert_eq(t.damaged, 0);
		cr_assert_eq(table_lost(&t, t.nr), 0);
	}
}

Test(stack_write, says_from_now_on_what_is_kept_apart)
{
	CLEANUP(spec_stacks_fini) struct spec_stacks t = { 0 };
	struct spec_stack_writer *w = NULL;

	spec_stack_writer_free(table_open(&s, PLENTY));
	cr_assert_eq(spec_stack_writer_open(s.fd, SPEC_STACK_KERNEL, PLENTY, &w, NULL),
		     0);
	spec_stack_writer_free(w);
	t = table_read(&s);
	cr_expect_eq(t.separate, SPEC_STACK_KERNEL);
}

Test(stack_write, a_closed_file_ends_behind_its_last_node)
{
	struct spec_stack_writer *w = table_open(&s, PLENTY);
	size_t len;

	table_grow_to(w, 1234);
	cr_expect_gt(spec_stack_bytes(w), spec_stack_len(1234), "reserved ahead");
	spec_stack_writer_free(w);
	free(table_bytes(&s, &len));
	cr_expect_eq(len, spec_stack_len(1234));
}

Test(stack_write, grows_to_a_million_nodes)
{
	CLEANUP(spec_stacks_fini) struct spec_stacks t = { 0 };
	struct spec_stack_writer *w = table_open(&s, PLENTY);

	table_grow_to(w, 1000000);
	for (uint32_t i = 1; i < 1000000; i += 17)
		cr_assert_eq(table_add(w, i), i);
	spec_stack_writer_free(w);
	t = table_read(&s);
	cr_expect_eq(t.nr, 1000000);
	cr_expect_eq(table_lost(&t, t.nr), 0);
}

static void expect_bound(uint32_t max)
{
	struct spec_stack_writer *w;
	struct err err = { 0 };

	teardown();
	setup();
	w = table_open(&s, max * sizeof(struct spec_stack_node));
	table_grow_to(w, max);
	for (uint32_t i = max; i < max + 2000; i++)
		cr_assert_eq(table_add_other(w, i), 0);
	cr_expect_eq(spec_stack_why(w, &err), -EFBIG);
	cr_expect(strstr(err.msg, "--stack-limit"), "%s", err.msg);
	cr_expect_not(spec_stack_failed(w));
	cr_expect_eq(spec_stack_nr(w), max);
	for (uint32_t i = 1; i < max; i++)
		cr_assert_eq(table_add(w, i), i, "known frames are found");
	spec_stack_writer_free(w);
}

Test(stack_write, has_as_many_nodes_as_are_allowed)
{
	expect_bound(2);
	expect_bound(100);
	expect_bound(508); /* what a new file has room for */
	expect_bound(3000);
}

Test(stack_write, a_table_with_more_nodes_than_allowed_gets_no_more)
{
	struct spec_stack_writer *w = table_open(&s, PLENTY);

	table_grow_to(w, 2000);
	spec_stack_writer_free(w);
	w = table_open(&s, 500 * sizeof(struct spec_stack_node));
	for (uint32_t i = 1; i < 2000; i++)
		cr_assert_eq(table_add(w, i), i);
	cr_expect_eq(table_add_other(w, 0), 0);
	cr_expect_eq(spec_stack_why(w, NULL), -EFBIG);
	spec_stack_writer_free(w);
}

/* What a writer that has not been closed leaves. */
static char *unclosed(uint32_t nr, size_t *len)
{
	struct spec_stack_writer *w = table_open(&s, PLENTY);
	char *data;

	table_grow_to(w, nr);
	data = table_bytes(&s, len);
	spec_stack_writer_free(w);
	return data;
}

Test(stack_write, in_a_table_that_was_not_closed_no_number_is_given_again)
{
	CLEANUP(spec_stacks_fini) struct spec_stacks t = { 0 };
	size_t len;
	CLEANUP(free_ptr) char *data = unclosed(600, &len);
	uint32_t room = (uint32_t)((len - spec_stack_len(0)) / 16);
	struct spec_stack_writer *w;

	table_put(&s, data, len);
	w = table_open(&s, PLENTY);
	cr_expect_gt(room, 600);
	cr_expect_eq(spec_stack_nr(w), room);
	cr_expect_eq(table_add(w, 599), 599);
	cr_expect_eq(table_add_other(w, 0), room);
	spec_stack_writer_free(w);
	t = table_read(&s);
	cr_expect_eq(t.nr, room + 1);
	cr_expect_eq(t.damaged, 0);
	cr_expect_eq(table_lost(&t, room), room - 600);
}

Test(stack_write, nodes_that_are_newer_than_the_header_are_kept)
{
	size_t len;
	CLEANUP(free_ptr) char *data = unclosed(600, &len);
	struct spec_stack_writer *w;

	((struct spec_stack_header *)(void *)data)->nr = 300;
	table_put(&s, data, len);
	w = table_open(&s, PLENTY);
	for (uint32_t i = 1; i < 600; i++)
		cr_assert_eq(table_add(w, i), i);
	spec_stack_writer_free(w);
}

Test(stack_write, a_file_that_is_shorter_than_it_says_gets_its_length_back)
{
	CLEANUP(spec_stacks_fini) struct spec_stacks t = { 0 };
	size_t len;
	CLEANUP(free_ptr) char *data = unclosed(600, &len);
	struct spec_stack_writer *w;

	table_put(&s, data, spec_stack_len(300));
	t = table_read(&s);
	cr_expect_eq(t.nr, 300);
	cr_expect_eq(t.damaged, 300);
	spec_stacks_fini(&t);
	w = table_open(&s, PLENTY);
	cr_expect_geq(table_add_other(w, 0), 2 * 600, "one growth behind it");
	spec_stack_writer_free(w);
	t = table_read(&s);
	cr_expect_eq(t.damaged, 0);
	cr_expect_eq(table_lost(&t, 600), 300);
}

static void expect_untouched(const void *data, size_t len, const char *why)
{
	struct spec_stack_writer *w = NULL;
	struct err err = { 0 };
	size_t after;

	table_put(&s, data, len);
	cr_expect_eq(spec_stack_writer_open(s.fd, 0, 1 << 20, &w, &err), -EBADMSG);
	cr_expect(strstr(err.msg, why), "%s", err.msg);
	cr_expect(strstr(err.msg, "stacks/frames: "), "%s", err.msg);
	CLEANUP(free_ptr) char *now = table_bytes(&s, &after);
	cr_expect_eq(after, len);
	cr_expect_eq(memcmp(now, data, len), 0);
}

Test(stack_write, refuses_what_is_no_table_and_leaves_it_alone)
{
	size_t len;
	CLEANUP(free_ptr) char *data = unclosed(100, &len);
	struct spec_stack_header *h = (void *)data;

	expect_untouched("", 0, "no table");
	expect_untouched(data, 63, "no table");
	h->magic[3]++;
	expect_untouched(data, len, "no table");
	h->magic[3]--;
	h->version++;
	expect_untouched(data, len, "version");
	h->version--;
	h->node_bytes = 24;
	expect_untouched(data, len, "version");
	h->node_bytes = 16;
	h->nr = 0;
	expect_untouched(data, len, "makes no sense");
	h->nr = 1;
	expect_untouched(data, len, "makes no sense");
	h->nr = UINT64_MAX;
	expect_untouched(data, len, "makes no sense");
	h->nr = (1 << 28) + 1;
	expect_untouched(data, len, "makes no sense");
	h->nr = 1 << 28;
	expect_untouched(data, len, "cut short");
	h->nr = (1 << 16) + 1;
	expect_untouched(data, len, "cut short");
}

Test(stack_write, follows_no_link_and_opens_no_other_kind_of_file)
{
	struct spec_stack_writer *w = NULL;
	struct err err = { 0 };

	scratch_write(&s, "elsewhere/frames", "x", 1);
	cr_assert_eq(symlinkat("elsewhere", s.fd, "stacks"), 0);
	cr_expect_eq(spec_stack_writer_open(s.fd, 0, PLENTY, &w, &err), -ELOOP);
	cr_assert_eq(unlinkat(s.fd, "stacks", 0), 0);
	cr_assert_eq(mkdirat(s.fd, "stacks", 0755), 0);
	cr_assert_eq(symlinkat("../elsewhere/frames", s.fd, "stacks/frames"), 0);
	cr_expect_eq(spec_stack_writer_open(s.fd, 0, PLENTY, &w, &err), -ELOOP);
	cr_expect(strstr(err.msg, "stacks: frames"), "%s", err.msg);
	cr_expect_eq(spec_stacks_open(s.fd, NULL), -ELOOP);
	cr_assert_eq(unlinkat(s.fd, "stacks/frames", 0), 0);
	cr_assert_eq(mkfifoat(s.fd, "stacks/frames", 0600), 0);
	cr_expect_eq(spec_stack_writer_open(s.fd, 0, PLENTY, &w, NULL), -EBADMSG);
	cr_expect_eq(spec_stacks_open(s.fd, NULL), -EBADMSG);
}

Test(stack_write, can_be_read_while_it_is_written)
{
	struct spec_stack_writer *w = table_open(&s, PLENTY);

	for (uint32_t nr = 3; nr < 1500; nr += 7) {
		CLEANUP(spec_stacks_fini) struct spec_stacks t = { 0 };

		table_grow_to(w, nr);
		t = table_read(&s);
		cr_assert_eq(t.nr, nr);
		cr_assert_eq(t.damaged, 0);
		cr_assert_eq(table_lost(&t, nr), 0);
	}
	cr_expect_eq(spec_stack_sync(w, NULL), 0);
	spec_stack_writer_free(w);
}
