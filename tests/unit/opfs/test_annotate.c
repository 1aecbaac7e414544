/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/source/annotate.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/opfs/fake.h"

/* Layouts that the reference session does not have. */

static const uint64_t totals[] = { 1000, 50 };
static const uint64_t ten[] = { 10, 0 }, twenty[] = { 20, 5 }, huge[] = { 1234567, 50 };

struct made {
	struct sources s;
	struct source_file f;
	struct options o;
	struct report_job job;
	struct profile p;
	struct catalog cat;
	struct catalog_image image;
};

static struct made m;
static struct strbuf out;

static void setup(void)
{
	m = (struct made){ .s = { .nr_classes = 1, .totals = totals },
			   .f = { .name = "/src/x.c", .samples = (uint64_t *)ten },
			   .image = { .shown = (char *)"/bin/x" } };
	m.cat.images = &m.image;
	m.p.cat = &m.cat;
	m.job = (struct report_job){ .p = &m.p, .o = &m.o, .path = "current" };
}

static void teardown(void)
{
	strbuf_fini(&out);
}

TestSuite(annotate, .init = setup, .fini = teardown);

/* What the file has for lines. */
#define LINES(...)                                                                       \
	do {                                                                             \
		static struct source_line lines[] = { __VA_ARGS__ };                     \
                                                                                         \
		m.f.lines = lines;                                                       \
		m.f.nr_lines = sizeof(lines) / sizeof(lines[0]);                         \
	} while (0)

static void expect_lines(const char *source, const char *want)
{
	static const struct annotate_part all = { 0 };
	const struct sym_text text = {
		.state = SYM_OK, .path = "/src/x.c", .data = source, .len = strlen(source)
	};

	cr_assert_eq(annotate_file(&m.job, &m.s, &m.f, &text, &all, &out, NULL), 0);
	cr_expect_str_eq(strbuf_str(&out), want, "got\n%s", strbuf_str(&out));
}

Test(annotate, a_number_that_is_too_wide_pushes_the_rest)
{
	LINES({ 1, huge });
	expect_lines("a\nb", "1234567 123456.7000 :a\n               :b\n");
}

Test(annotate, functions_of_one_line_are_listed_with_their_sum)
{
	const struct source_symbol symbols[] = {
		{ .line = 2, .name = "f<*/>", .samples = twenty },
		{ .line = 2, .name = "g", .samples = ten },
	};

	m.s.nr_classes = 2;
	LINES({ 0, ten }, { 2, twenty });
	m.f.symbols = (struct source_symbol *)symbols;
	m.f.nr_symbols = 2;
	expect_lines("x\ny\n",
		     "                               :x\n"
		     "    20  2.0000     5 10.0000   :y /* f<* />     20  2.0000     5 "
		     "10.0000, "
		     "g     10  1.0000     0       0, total:     30  3.0000     5 "
		     "10.0000 */\n");
}

Test(annotate, inlined_code_stands_behind_the_line_that_calls_it)
{
	const struct source_call calls[] = {
		{ 1, "mix", twenty },
		{ 1, "", ten },
		{ 9, "late", ten },
	};

	m.f.calls = (struct source_call *)calls;
	m.f.nr_calls = 3;
	expect_lines(
		"x\n",
		"               :x /* inlined here: mix     20  2.0000, (no name)     10 "
		" "
		"1.0000 */\n"
		"               :(line 9 is behind the end of the file) /* inlined here: "
		"late     10  1.0000 */\n");
}

Test(annotate, an_empty_source_has_its_samples_by_number)
{
	LINES({ 0, ten }, { 4000000000, ten });
	expect_lines("",
		     "    10  1.0000 :(line 4000000000 is behind the end of the file)\n");
}

Test(annotate, samples_of_line_zero_are_in_the_comment)
{
	LINES({ 0, ten });
	annotate_total(&m.job, &m.s, &m.f, NULL, &out);
	cr_expect_str_eq(strbuf_str(&out),
			 "/* \n * Total samples for file : \"/src/x.c\"\n * \n"
			 " *     10  1.0000\n */\n\n"
			 "<credited to line zero>     10  1.0000 :\n");
}

Test(annotate, a_part_has_its_lines_only)
{
	const struct sym_text text = {
		.state = SYM_OK, .path = "", .data = "a\nb\nc\nd\n", .len = 8
	};
	const struct annotate_part part = { 2, 3 };

	LINES({ 1, ten }, { 2, ten }, { 3, twenty });
	cr_assert_eq(annotate_file(&m.job, &m.s, &m.f, &text, &part, &out, NULL), 0);
	cr_expect_str_eq(strbuf_str(&out), "    10  1.0000 :b\n    20  2.0000 :c\n");
}

Test(annotate, a_bad_time_of_a_file_is_a_number)
{
	const struct sym_text text = {
		.state = SYM_OK, .path = "/src/x.c", .data = "", .mtime = INT64_MAX
	};

	m.f.binary_mtime = 86400;
	annotate_total(&m.job, &m.s, &m.f, &text, &out);
	cr_expect_not_null(
		strstr(strbuf_str(&out),
		       " * This source file (9223372036854775807) is newer than "
		       "/bin/x (1970-01-02 00:00:00):\n"),
		"got\n%s", strbuf_str(&out));
}
