/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/text.h"

#define MIB (1u << 20)

static struct text_draft draft;
static struct text *text;
static struct err err;

/* A line, each of its own, of 64 bytes. */
static void line_of(size_t i, char out[65])
{
	snprintf(out, 65, "%063zu\n", i);
}

/* Writes @lines lines; returns the most memory that was used for them. */
static size_t write_lines(size_t lines)
{
	char line[65];
	size_t most = 0;

	for (size_t i = 0; i < lines; i++) {
		line_of(i, line);
		strbuf_add(&draft.text, line, 64);
		most = draft.text.cap > most ? draft.text.cap : most;
		strbuf_drain(&draft.text);
	}
	cr_assert_eq(text_draft_end(&draft, &text, &err), 0, "%s", err.msg);
	return most;
}

static void expect_lines(size_t lines)
{
	char line[65], got[65] = "";

	cr_assert_eq(text->len, lines * 64);
	for (size_t i = 0; i < lines; i++) {
		line_of(i, line);
		cr_assert_eq(text_read(text, got, 64, (off_t)(i * 64)), 64);
		cr_assert_str_eq(got, line);
	}
}

static void setup(void)
{
	text_draft_init(&draft);
}

static void teardown(void)
{
	text_draft_fini(&draft);
	text_put(text);
}

TestSuite(text, .init = setup, .fini = teardown);

Test(text, a_short_one_is_in_memory)
{
	write_lines(3);
	cr_expect_eq(text->fd, -1);
	expect_lines(3);
}

Test(text, without_a_byte_is_one)
{
	write_lines(0);
	cr_expect_eq(text->len, 0);
	cr_expect_str_eq(text->data, "");
}

Test(text, a_long_one_is_a_file_while_it_is_written)
{
	size_t most = write_lines(MIB);

	cr_expect_leq(most, 32 * MIB, "%zu bytes in memory for a text of 64 MiB", most);
	cr_expect_geq(text->fd, 0);
	cr_expect_leq(text_bytes(text), sizeof(*text));
	expect_lines(MIB);
}

Test(text, is_in_memory_where_the_file_cannot_grow)
{
	const struct rlimit limit = { 17 * MIB, 17 * MIB };

	signal(SIGXFSZ, SIG_IGN);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	write_lines(MIB / 2);
	cr_expect_eq(text->fd, -1);
	expect_lines(MIB / 2);
}

Test(text, from_a_buffer_takes_its_bytes_over)
{
	struct strbuf from = { 0 };

	strbuf_puts(&from, "abc");
	cr_assert_eq(text_new(&from, &text, &err), 0);
	cr_expect_str_eq(text->data, "abc");
	cr_expect_null(from.data);
}

Test(text, of_a_buffer_that_failed_is_an_error)
{
	struct strbuf from = { .failed = true };

	cr_expect_neq(text_new(&from, &text, &err), 0);
	cr_expect_neq(err.msg[0], '\0');
}
