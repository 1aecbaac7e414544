/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/strbuf.h"

static volatile size_t huge = SIZE_MAX; /* the compiler need not know */

Test(strbuf, is_empty_text_when_zeroed)
{
	CLEANUP(strbuf_fini) struct strbuf b = { 0 };

	cr_expect_str_eq(strbuf_str(&b), "");
	cr_expect_eq(strbuf_error(&b), 0);
	strbuf_truncate(&b, 0);
	strbuf_reset(&b);
	strbuf_fini(&b);
}

Test(strbuf, holds_what_was_added_in_order)
{
	CLEANUP(strbuf_fini) struct strbuf b = { 0 };

	strbuf_puts(&b, "a");
	strbuf_putc(&b, 'b');
	strbuf_fill(&b, 'c', 3);
	strbuf_printf(&b, "%d", 42);
	strbuf_add(&b, NULL, 0);
	strbuf_add(&b, "\0x", 2);
	cr_expect_eq(b.len, 9);
	cr_expect_eq(memcmp(b.data, "abccc42\0x", 10), 0);
}

Test(strbuf, prints_across_every_growth)
{
	CLEANUP(strbuf_fini) struct strbuf b = { 0 };
	char line[3000];

	memset(line, 'l', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	for (size_t n = 0; n < 300; n++) {
		strbuf_reset(&b);
		strbuf_fill(&b, '-', n);
		strbuf_printf(&b, "%.*s|", (int)n, line);
		cr_assert_eq(b.len, 2 * n + 1);
		cr_assert_eq(strlen(b.data), b.len);
		cr_assert_eq(b.data[2 * n], '|');
	}
	strbuf_fini(&b);
	strbuf_printf(&b, "%s%s", line, line);
	cr_expect_eq(b.len, 2 * strlen(line));
}

Test(strbuf, ignores_everything_after_a_failure)
{
	CLEANUP(strbuf_fini) struct strbuf b = { 0 };

	strbuf_puts(&b, "kept");
	strbuf_fill(&b, 'x', huge);
	cr_expect_eq(strbuf_error(&b), -ENOMEM);
	strbuf_puts(&b, "late");
	strbuf_printf(&b, "%d", 1);
	strbuf_fill(&b, 'y', 2);
	cr_expect_str_eq(strbuf_str(&b), "kept");
	cr_expect_eq(strbuf_error(&b), -ENOMEM);
}

Test(strbuf, works_again_after_reset)
{
	CLEANUP(strbuf_fini) struct strbuf b = { 0 };

	strbuf_add(&b, "x", huge);
	strbuf_reset(&b);
	cr_expect_eq(strbuf_error(&b), 0);
	strbuf_puts(&b, "new");
	cr_expect_str_eq(strbuf_str(&b), "new");
}

Test(strbuf, gives_no_text_away_after_a_failure)
{
	struct strbuf b = { 0 };

	strbuf_puts(&b, "half");
	strbuf_fill(&b, 'x', huge);
	cr_expect_null(strbuf_take(&b));
	cr_expect_eq(strbuf_error(&b), 0);
	cr_expect_null(b.data);
}

Test(strbuf, take_of_an_empty_buffer_is_an_empty_string)
{
	struct strbuf b = { 0 };
	CLEANUP(free_ptr) char *text = strbuf_take(&b);

	cr_expect_str_eq(text, "");
}

Test(strbuf, take_leaves_an_empty_buffer)
{
	struct strbuf b = { 0 };
	CLEANUP(free_ptr) char *text = NULL;

	strbuf_puts(&b, "mine");
	text = strbuf_take(&b);
	cr_expect_str_eq(text, "mine");
	cr_expect_eq(b.len, 0);
	cr_expect_null(b.data);
}

Test(strbuf, truncates_but_never_extends)
{
	CLEANUP(strbuf_fini) struct strbuf b = { 0 };

	strbuf_puts(&b, "abcdef");
	strbuf_truncate(&b, 100);
	cr_expect_str_eq(strbuf_str(&b), "abcdef");
	strbuf_truncate(&b, 2);
	cr_expect_str_eq(strbuf_str(&b), "ab");
	strbuf_putc(&b, '!');
	cr_expect_str_eq(strbuf_str(&b), "ab!");
}

Test(strbuf, a_number_is_right_aligned_and_never_cut)
{
	struct strbuf b = { 0 };

	strbuf_number(&b, 0, 0);
	strbuf_number(&b, 42, 6);
	strbuf_number(&b, 1234567, 6);
	strbuf_number(&b, UINT64_MAX, 3);
	cr_expect_str_eq(strbuf_str(&b), "0    42123456718446744073709551615");
	strbuf_fini(&b);
}
