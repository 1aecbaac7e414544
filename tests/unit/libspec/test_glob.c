/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "libspec/name/glob.h"

/* A sequence that is the same in every run. */
static unsigned next_random(unsigned *state)
{
	*state = *state * 1103515245u + 12345u;
	return *state >> 16;
}

Test(glob, matches_what_fnmatch_matches)
{
	static const char letters[] = "ab/.*?[]!-\\^";
	unsigned state = 42, matched = 0;

	for (int i = 0; i < 400000; i++) {
		char pattern[12] = "", name[8] = "";
		size_t np = next_random(&state) % 8, nn = next_random(&state) % 6;

		for (size_t k = 0; k < np; k++)
			pattern[k] = letters[next_random(&state) % (sizeof(letters) - 1)];
		for (size_t k = 0; k < nn; k++)
			name[k] = letters[next_random(&state) % (sizeof(letters) - 1)];
		/* glibc reads some brackets in ways of its own ([.x.], [=x=], backward
		 * ranges): the next test has those that matter */
		if (strchr(pattern, '['))
			continue;
		cr_assert_eq(spec_glob(pattern, name), !fnmatch(pattern, name, 0),
			     "pattern \"%s\", name \"%s\"", pattern, name);
		matched += spec_glob(pattern, name);
	}
	cr_expect_gt(matched, 1000);
}

Test(glob, matches_brackets_as_fnmatch_does)
{
	static const char *const patterns[] = {
		"[ab]",   "[!ab]",  "[^ab]",    "[a-c]x",  "[]a]",        "[!]a]",
		"[a-]",   "[-a]",   "[[]",      "[/]",     "[[:alpha:]]", "[[:digit:]a]",
		"[a",     "[",      "a[",       "[a\\]b]", "[\\a]",       "x[0-9][0-9]*",
		"[!a-z]", "*[ab]*", "[a-bx-z]",
	};
	static const char *const names[] = { "a",  "b",   "c",  "]",  "!",  "^",    "-",
					     "/",  "[",   "cx", "5",  "[a", "a[",   "x",
					     "\\", "x12", "x1", "zz", "Q",  "\xff", "" };

	for (size_t p = 0; p < sizeof(patterns) / sizeof(*patterns); p++)
		for (size_t n = 0; n < sizeof(names) / sizeof(*names); n++)
			cr_expect_eq(spec_glob(patterns[p], names[n]),
				     !fnmatch(patterns[p], names[n], 0),
				     "pattern \"%s\", name \"%s\"", patterns[p],
				     names[n]);
}

Test(glob, many_stars_take_no_exponential_time)
{
	char name[4097];

	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	cr_expect_not(spec_glob("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", name));
	cr_expect(spec_glob("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*", name));
}

Test(glob, a_star_matches_slashes_and_leading_dots)
{
	cr_expect(spec_glob("/usr*ls", "/usr/bin/ls"));
	cr_expect(spec_glob("*", ".hidden"));
	cr_expect(spec_glob_n("/usr/*", "/usr/bin/ls", 8));
	cr_expect_not(spec_glob_n("/usr", "/usr/bin", 3));
}

/* ---- lists */

struct list_case {
	char raw[40];
	char texts[5][20]; /* "" ends them */
	size_t nr;
	bool open;
	bool glob; /* of the first */
};

static const struct list_case list_cases[] = {
	{ "", { "" }, 0, false, false },
	{ "a", { "a" }, 1, false, false },
	{ "a,b", { "a", "b" }, 2, false, false },
	{ "a,", { "a" }, 1, true, false },
	{ ",", { "" }, 1, true, false },
	{ "a,,b", { "a", "", "b" }, 3, false, false },
	{ "a\\,b", { "a,b" }, 1, false, false },
	{ "a\\,", { "a," }, 1, false, false },
	{ "a%2Cb,c", { "a,b", "c" }, 2, false, false },
	{ "a%2cb", { "a,b" }, 1, false, false },
	{ "a*", { "a*" }, 1, false, true },
	{ "a%2A", { "a*" }, 1, false, false },
	{ "a\\*", { "a\\*" }, 1, false, true },
	{ "100%", { "100%" }, 1, false, false },
	{ "%zz%4", { "%zz%4" }, 1, false, false },
	{ "%2541", { "%41" }, 1, false, false },
	{ "a\\", { "a\\" }, 1, false, false },
	{ "a\\%2Cb", { "a\\,b" }, 1, false, false },
};

Test(list, is_taken_apart_at_commas_that_are_not_escaped)
{
	for (size_t i = 0; i < sizeof(list_cases) / sizeof(*list_cases); i++) {
		const struct list_case *c = &list_cases[i];
		CLEANUP(spec_items_fini) struct spec_items l = { 0 };

		cr_assert_eq(spec_items_parse(c->raw, &l, NULL), 0);
		cr_expect_eq(l.nr, c->nr, "\"%s\": %zu items", c->raw, l.nr);
		cr_expect_eq(l.open, c->open, "\"%s\"", c->raw);
		for (size_t k = 0; k < l.nr && k < c->nr; k++)
			cr_expect_str_eq(l.items[k].text, c->texts[k], "\"%s\"", c->raw);
		if (l.nr)
			cr_expect_eq(l.items[0].glob, c->glob, "\"%s\"", c->raw);
	}
}

Test(list, an_escaped_byte_matches_only_itself)
{
	CLEANUP(spec_items_fini) struct spec_items l = { 0 };

	cr_assert_eq(spec_items_parse("a%2A%5Bb%5D%3F", &l, NULL), 0);
	cr_expect(spec_glob(l.items[0].pattern, "a*[b]?"));
	cr_expect_not(spec_glob(l.items[0].pattern, "axbx"));
	cr_expect_not(spec_glob(l.items[0].pattern, "a*b?"));
}

Test(list, the_word_all_counts_only_unescaped)
{
	CLEANUP(spec_items_fini) struct spec_items l = { 0 };

	cr_assert_eq(spec_items_parse("all,%61ll,al%6C,All", &l, NULL), 0);
	cr_expect(l.items[0].all);
	for (size_t i = 1; i < 4; i++)
		cr_expect_not(l.items[i].all);
}

Test(list, refuses_a_nul_and_too_many_items)
{
	CLEANUP(spec_items_fini) struct spec_items l = { 0 };
	char commas[3000];
	struct err err;

	cr_expect_eq(spec_items_parse("a%00b", &l, &err), -EINVAL);
	memset(commas, ',', sizeof(commas) - 1);
	commas[sizeof(commas) - 1] = '\0';
	cr_expect_eq(spec_items_parse(commas, &l, &err), -E2BIG);
	cr_expect_null(l.items);
}

/* ---- listed names */

static void expect_listed(const char *name, const char *want)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };

	spec_listed(name, false, name, &out);
	cr_expect_str_eq(strbuf_str(&out), want);
}

Test(listed, escapes_what_a_path_or_a_value_would_read_otherwise)
{
	expect_listed("ls", "ls");
	expect_listed("/bin/ls", "%2Fbin%2Fls");
	expect_listed("a,b*c?d[e\\f%g", "a%2Cb%2Ac%3Fd%5Be%5Cf%25g");
	expect_listed("-x-y", "%2Dx-y");
	expect_listed("all", "%61ll");
	expect_listed("allx", "allx");
	expect_listed(".", "%2E");
	expect_listed("..", "%2E%2E");
	expect_listed("...", "...");
	expect_listed("a\n\x7f", "a%0A%7F");
	expect_listed("\xc3\xa9", "\xc3\xa9");
	expect_listed("\xc3(\xff\xc0\xaf", "%C3(%FF%C0%AF");
	expect_listed("\xc2\x85", "%C2%85");
	expect_listed("{dep} a:b]", "{dep} a:b]");
}

Test(listed, decodes_to_the_name)
{
	unsigned state = 7;

	for (int i = 0; i < 20000; i++) {
		CLEANUP(strbuf_fini) struct strbuf out = { 0 }, back = { 0 };
		char name[20] = "";
		size_t len = next_random(&state) % 12 + 1;

		for (size_t k = 0; k < len; k++)
			name[k] = (char)(next_random(&state) % 255 + 1);
		spec_listed(name, false, name, &out);
		spec_decode(strbuf_str(&out), &back);
		cr_assert_str_eq(strbuf_str(&back), name);
		cr_assert_null(strpbrk(strbuf_str(&out), "/,*?[\\"));
	}
}

Test(listed, cuts_long_names_and_marks_them)
{
	CLEANUP(strbuf_fini) struct strbuf a = { 0 }, b = { 0 };
	char name[400];

	memset(name, '%', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	spec_listed(name, false, name, &a);
	name[398] = 'x';
	spec_listed(name, false, name, &b);
	cr_expect_leq(a.len, SPEC_LISTED_MAX);
	cr_expect(spec_listed_cut(a.data), "%s", a.data);
	cr_expect_str_neq(a.data, b.data);
	cr_expect_not(spec_listed_cut("ls"));
	cr_expect_not(spec_listed_cut("x~1234567g"));
}
