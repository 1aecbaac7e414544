/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/export/folded.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "opfs/report/export/export.h"

static struct strbuf out;
static struct folded f;

static void teardown(void)
{
	strbuf_fini(&out);
	folded_fini(&f);
}

TestSuite(folded, .fini = teardown);

static void add(const char *text, uint64_t samples)
{
	struct strbuf stack = { 0 };

	strbuf_puts(&stack, text);
	cr_assert_eq(folded_add(&f, &stack, samples), 0);
	strbuf_fini(&stack);
}

Test(folded, lines_are_sorted_by_bytes_and_equal_stacks_are_added_up)
{
	add("main;b", 1);
	add("main", 2);
	add("\xff", 3);
	add("main;b", 1ull << 40);
	add("Main", 4);
	add("main b", 5);
	cr_expect_eq(f.bytes, 6 + 4 + 1 + 6 + 4 + 6);
	folded_write(&f, &out);
	cr_expect_str_eq(strbuf_str(&out),
			 "Main 4\nmain 2\nmain b 5\nmain;b 1099511627777\n\xff 3\n");
}

Test(folded, no_stacks_are_no_lines)
{
	folded_write(&f, &out);
	cr_expect_eq(out.len, 0);
}

Test(folded, names_have_nothing_that_ends_a_function_or_a_line)
{
	static const struct {
		const char *name, *folded;
		enum frame_kind kind;
	} rows[] = {
		{ "main", "main", FRAME_PROGRAM },
		{ "operator new(unsigned long)", "operator new(unsigned long)",
		  FRAME_LIBRARY },
		{ "a;b\nc\td\x7f", "a_b_c_d_", FRAME_PROGRAM },
		{ "  two ends   ", "__two ends___", FRAME_PROGRAM },
		{ "   ", "___", FRAME_PROGRAM },
		{ "\xc3\xa9\xff\xc3", "\xc3\xa9__", FRAME_PROGRAM },
		{ "\xc2\x85\x9b", "___", FRAME_PROGRAM },
		{ "vfs_read", "vfs_read_[k]", FRAME_KERNEL },
		{ "[truncated: depth limit]", "[truncated: depth limit]", FRAME_NONE },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct calltree_func func = { .name = rows[i].name,
						    .kind = rows[i].kind };

		strbuf_reset(&out);
		cr_assert_eq(folded_name(&func, &out), 0);
		cr_expect_str_eq(strbuf_str(&out), rows[i].folded);
	}
}

Test(folded, what_stands_before_a_name_stays)
{
	strbuf_puts(&out, "fn= ");
	export_name(&out, " x", "");
	cr_expect_str_eq(strbuf_str(&out), "fn= _x");
}

Test(folded, only_a_file_beyond_the_limit_is_too_large)
{
	struct err err = { 0 };

	cr_expect_eq(export_check_size(1 << 20, 1 << 20, "some.file", &err), 0);
	cr_expect_eq(export_check_size((1 << 20) + 1, 1 << 20, "some.file", &err),
		     -EINVAL);
	cr_expect_str_eq(err.msg, "some.file would be larger than 1 MiB: choose a part "
				  "with event:, image: or cpu:");
}
