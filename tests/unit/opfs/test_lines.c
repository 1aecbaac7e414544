/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/profile/lines.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "opfs/report/column.h"
#include "tests/unit/opfs/fake.h"
#include "tests/unit/opfs/named.h"

static const struct fake_event event = { "CYCLES", 1000, 0, 41 };

static const char *const files[] = { "/usr/src/main.c", "inline.h", "" };
static const struct sym_inline inlines[] = {
	{ "outer", SYM_LINE_NONE, 0, 20 },
	{ "", 0, 1, 30 },
	{ "circle", 2, 9, 40 },
};
static const struct sym_line rows[] = {
	{ 0x10, 0x20, 0, 7, SYM_LINE_NONE }, { 0x20, 0x30, 1, 3, 1 },
	{ 0x30, 0x40, 2, 1, SYM_LINE_NONE }, { 0x40, 0x50, 0, 0, 2 },
	{ 0x50, 0x60, 77, 1, 99 },
};

static struct sym_lines *some_lines(void)
{
	struct sym_lines *l = calloc(1, sizeof(*l));

	cr_assert_not_null(l);
	*l = (struct sym_lines){ .files = files,
				 .rows = rows,
				 .inlines = inlines,
				 .nr_files = 3,
				 .nr_rows = 5,
				 .nr_inlines = 3,
				 .refs = 1 };
	return l;
}

static struct fake f;
static struct profile *p;
static struct lines *lines;

static void begin(void)
{
	static const char *const apps[] = { "/bin/a", "/bin/b", "/bin/c" };

	fake_init(&f);
	for (size_t i = 0; i < 3; i++)
		fake_file(&f, apps[i], apps[i], &event, 5);
	p = fake_load(&f, PROFILE_SYMBOLS);
	lines = lines_new(p);
	cr_assert_not_null(lines);
	lines_set(lines, fake_image(&f, "/bin/a"), some_lines());
	lines_set(lines, fake_image(&f, "/bin/b"), some_lines());
}

static void end(void)
{
	lines_free(lines);
	profile_put(p);
	fake_fini(&f);
}

TestSuite(lines, .init = begin, .fini = end);

Test(lines, a_place_has_a_file_and_a_line)
{
	struct line_place at;

	cr_assert(lines_at(lines, 0, 0x1f, &at));
	cr_expect_str_eq(at.file, "/usr/src/main.c");
	cr_expect_eq(at.line, 7);
	cr_expect_null(at.inlined);
	cr_expect_not(lines_caller(&at));
	cr_expect_eq(at.line, 7, "unchanged");
}

Test(lines, inlined_code_leads_to_its_callers)
{
	struct line_place at;

	cr_assert(lines_at(lines, 0, 0x20, &at));
	cr_expect_str_eq(at.inlined, "");
	cr_assert(lines_caller(&at));
	cr_expect_str_eq(at.file, "inline.h");
	cr_expect_eq(at.line, 30);
	cr_expect_str_eq(at.inlined, "outer");
	cr_assert(lines_caller(&at));
	cr_expect_str_eq(at.file, "/usr/src/main.c");
	cr_expect_eq(at.line, 20);
	cr_expect_null(at.inlined);
	cr_expect_not(lines_caller(&at));
}

Test(lines, where_nothing_is_known_is_no_place)
{
	struct line_place at;

	cr_expect_not(lines_at(lines, 0, 0x0f, &at), "before all");
	cr_expect_not(lines_at(lines, 0, 0x30, &at), "a file without a name");
	cr_expect_not(lines_at(lines, 0, 0x50, &at), "indices that are none");
	cr_expect_not(lines_at(lines, 0, 0x60, &at), "behind all");
	cr_expect_not(lines_at(lines, 2, 0x10, &at), "an image without lines");
	cr_expect_not(lines_at(lines, 99, 0x10, &at), "no image");
}

Test(lines, a_circle_of_callers_ends)
{
	struct line_place at;

	cr_assert(lines_at(lines, 0, 0x40, &at));
	cr_assert(lines_caller(&at));
	cr_expect_null(at.file);
	cr_expect_not(lines_caller(&at));
}

Test(lines, without_symbols_every_image_has_a_reason)
{
	struct lines_query q = { .what = LINES_OF_SYMBOLS };
	struct lines *l;

	q.p = p;
	cr_assert_eq(lines_load(&q, &l, NULL), 0);
	for (uint32_t i = 0; i < 3; i++) {
		cr_expect_null(lines_image(l, i));
		cr_expect_not_null(lines_reason(l, i));
	}
	cr_expect_null(lines_reason(l, 99));
	lines_free(l);
}

/* ---- in tables */

static void expect_table(const struct view_options *o, const char *want)
{
	struct strbuf out = { 0 };
	struct column_table table;
	struct view v;

	cr_assert_eq(view_init(&v, p, o), 0);
	cr_assert_eq(column_table_init(&table, &v), 0);
	column_titles(&table, &out);
	for (size_t i = 0; i < v.nr_rows; i++)
		column_row(&table, v.rows[i], &out);
	cr_expect_str_eq(strbuf_str(&out), want, "got\n%s", strbuf_str(&out));
	strbuf_fini(&out);
	column_table_fini(&table);
	view_fini(&v);
}

/* /bin/a begins at inline.h:3, /bin/b at main.c:7, /bin/c nowhere. */
static struct sym two[] = { { .off = 0x20 }, { .off = 0x10 } };
NAMED(two, "x", "x");

static void give_symbols(void)
{
	for (size_t i = 0; i < p->nr_rows; i++) {
		struct profile_row *row = &p->rows[i];

		if (row->image < 2)
			row->sym = &two[row->image];
		row->name = "x";
	}
}

Test(lines, the_column_is_28_wide_and_says_where_nothing_is_known)
{
	struct view_options o = { .show_lines = true };

	give_symbols();
	o.lines = lines;
	expect_table(&o,
		     "samples  %        linenr info                 app name"
		     "                 symbol name\n"
		     "5        33.3333  inline.h:3                  a                    "
		     "    x\n"
		     "5        33.3333  main.c:7                    b                    "
		     "    x\n"
		     "5        33.3333  (no location information)   c                    "
		     "    x\n");
}

Test(lines, long_filenames_are_whole_paths)
{
	struct view_options o = { .show_lines = true, .long_filenames = true };

	give_symbols();
	o.lines = lines;
	o.exclude_dependent = true;
	expect_table(&o,
		     "samples  %        linenr info                 app name"
		     "                 symbol name\n"
		     "5        33.3333  inline.h:3                  /bin/a               "
		     "    x\n"
		     "5        33.3333  /usr/src/main.c:7           /bin/b               "
		     "    x\n"
		     "5        33.3333  (no location information)   /bin/c               "
		     "    x\n");
}

Test(lines, rows_are_sorted_by_file_and_line_also_without_the_column)
{
	static const enum view_key keys[][2] = { { VIEW_BY_DEBUG, VIEW_BY_SAMPLES },
						 { VIEW_BY_SAMPLES, VIEW_BY_DEBUG },
						 { VIEW_BY_SYMBOL, VIEW_BY_DEBUG } };

	for (size_t i = 0; i < 3; i++) {
		struct view_options o = { .nr_sort = 2,
					  .sort = { keys[i][0], keys[i][1] } };

		give_symbols();
		o.lines = lines;
		o.reverse = true;
		expect_table(&o,
			     "samples  %        app name                 symbol name\n"
			     "5        33.3333  b                        x\n"
			     "5        33.3333  a                        x\n"
			     "5        33.3333  c                        x\n");
	}
}

Test(lines, without_lines_the_column_knows_nothing)
{
	struct view_options o = { .show_lines = true };

	end();
	lines = NULL;
	fake_init(&f);
	fake_file(&f, "/bin/a", "/bin/a", &event, 5);
	p = fake_load(&f, PROFILE_SYMBOLS);
	expect_table(&o, "samples  %        linenr info                 symbol name\n"
			 "5        100.000  (no location information)   /bin/a\n");
}
