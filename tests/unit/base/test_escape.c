/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/escape.h"

static bool plain_none(unsigned char c)
{
	(void)c;
	return false;
}

static const char *decoded(struct strbuf *b, const char *s)
{
	strbuf_reset(b);
	escape_decode(b, s, strlen(s));
	return strbuf_str(b);
}

Test(escape, of_every_byte_decodes_to_it)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	CLEANUP(strbuf_fini) struct strbuf back = { 0 };
	unsigned char all[256];

	for (int i = 0; i < 256; i++)
		all[i] = (unsigned char)i;
	escape_add(&text, all, sizeof(all), escape_plain_field);
	cr_expect_null(strchr(text.data, '\t'));
	cr_expect_null(strchr(text.data, '\n'));
	escape_decode(&back, text.data, text.len);
	cr_expect_eq(back.len, sizeof(all));
	cr_expect_eq(memcmp(back.data, all, sizeof(all)), 0);
}

Test(escape, is_upper_case_hexadecimal)
{
	CLEANUP(strbuf_fini) struct strbuf b = { 0 };

	escape_add(&b, "\t\xff%", 3, escape_plain_field);
	cr_expect_str_eq(strbuf_str(&b), "%09\xff%25");
	strbuf_reset(&b);
	escape_add(&b, "/\xab", 2, plain_none);
	cr_expect_str_eq(strbuf_str(&b), "%2F%AB");
}

Test(escape, without_two_digits_is_itself)
{
	CLEANUP(strbuf_fini) struct strbuf b = { 0 };

	cr_expect_str_eq(decoded(&b, "0.1%"), "0.1%");
	cr_expect_str_eq(decoded(&b, "%4"), "%4");
	cr_expect_str_eq(decoded(&b, "%zz%%41"), "%zz%A");
	cr_expect_str_eq(decoded(&b, "%+1%-1% 1"), "%+1%-1% 1");
	cr_expect_str_eq(decoded(&b, "%2f%2F"), "//");
}

Test(escape, byte_looks_no_further_than_it_may)
{
	cr_expect_eq(escape_byte("%41", 3), 0x41);
	cr_expect_eq(escape_byte("%41", 2), -1);
	cr_expect_eq(escape_byte("", 0), -1);
	cr_expect_eq(escape_byte("%00", 3), 0);
	cr_expect_eq(escape_byte("x41", 3), -1);
}

Test(escape, decodes_only_once)
{
	CLEANUP(strbuf_fini) struct strbuf b = { 0 };

	cr_expect_str_eq(decoded(&b, "%2541"), "%41");
}

Test(escape, takes_a_megabyte_that_is_all_escapes)
{
	CLEANUP(strbuf_fini) struct strbuf raw = { 0 };
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	CLEANUP(strbuf_fini) struct strbuf back = { 0 };

	strbuf_fill(&raw, '\n', 1 << 20);
	escape_add(&text, raw.data, raw.len, escape_plain_field);
	cr_expect_eq(text.len, 3 << 20);
	escape_decode(&back, text.data, text.len);
	cr_expect_eq(back.len, raw.len);
	cr_expect_eq(memcmp(back.data, raw.data, raw.len), 0);
}

/* What a name may do to a terminal, and characters that have such bytes in them. */
Test(escape, of_a_text_leaves_no_control_character)
{
	static const char *const texts[][2] = {
		{ "plain", "plain" },
		{ "a\x1b[31m\x7f\n", "a%1B[31m%7F%0A" },
		{ "\xc2\x9b"
		  "31m\xc2\x85",
		  "%C2%9B31m%C2%85" },
		{ "\x9b"
		  "31m \xa9 \xc2",
		  "%9B31m \xa9 \xc2" },
		{ "\xc3\x80 \xe2\x82\xac \xf0\x9f\x98\x80 \xc2\xa0",
		  "\xc3\x80 \xe2\x82\xac \xf0\x9f\x98\x80 \xc2\xa0" },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		CLEANUP(strbuf_fini) struct strbuf b = { 0 };

		escape_text(&b, texts[i][0]);
		cr_expect_str_eq(strbuf_str(&b), texts[i][1]);
	}
}
