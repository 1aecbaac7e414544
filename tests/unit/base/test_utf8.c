/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/utf8.h"

#include <criterion/criterion.h>
#include <string.h>

Test(utf8, knows_how_long_a_character_is)
{
	static const char *const valid[] = { "a",
					     "\x7f",
					     "\xc2\x80",
					     "\xdf\xbf",
					     "\xe0\xa0\x80",
					     "\xed\x9f\xbf",
					     "\xee\x80\x80",
					     "\xef\xbf\xbf",
					     "\xf0\x90\x80\x80",
					     "\xf4\x8f\xbf\xbf" };

	for (size_t i = 0; i < sizeof(valid) / sizeof(valid[0]); i++) {
		size_t len = strlen(valid[i]);

		cr_expect_eq(utf8_len(valid[i], len), len, "%zu", i);
		cr_expect_eq(utf8_len(valid[i], 9), len, "%zu: what follows is not read",
			     i);
		cr_expect_eq(utf8_len(valid[i], len - 1), 0, "%zu: cut short", i);
	}
}

Test(utf8, accepts_nothing_else)
{
	static const char *const invalid[] = {
		"\x80"
		"xyz",
		"\xbf",
		"\xc0\x80",
		"\xc1\xbf",
		"\xc2"
		"a",
		"\xe0\x9f\xbf",
		"\xed\xa0\x80",
		"\xed\xbf\xbf",
		"\xf0\x8f\xbf\xbf",
		"\xf4\x90\x80\x80",
		"\xf5\x80\x80\x80",
		"\xff\xff\xff\xff",
		"\xe2\x82"
		"a",
		"\xf0\x90\x80"
		"a",
	};

	for (size_t i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++)
		cr_expect_eq(utf8_len(invalid[i], strlen(invalid[i])), 0, "%zu", i);
	cr_expect_eq(utf8_len("", 0), 0);
}

Test(utf8, control_characters_become_question_marks)
{
	char text[] = "a\x1b[m \xc2\x9b"
		      "31m \x9b \xc3\x80 \xf0\x9f\x98\x80\n";

	utf8_no_controls(text);
	cr_expect_str_eq(text, "a?[m ??31m ? \xc3\x80 \xf0\x9f\x98\x80?");
}
