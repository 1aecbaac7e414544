/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/lines.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "opfs/column.h"
#include "tests/unit/opfs/fake.h"

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

struct made {
	struct fake f;
	struct profile *p;
	struct lines *lines;
};

static void begin(struct made *m)
{
	static const char *const apps[] = { "/bin/a", "/bin/b", "/bin/c" };

	fake_init(&m->f);
	for (size_t i = 0; i < 3; i++)
		fake_file(&m->f, apps[i], apps[i], &event, 5);
	m->p = fake_load(&m->f, PROFILE_SYMBOLS);
	m->lines = lines_new(m->p);
	cr_assert_not_null(m->lines);
	lines_set(m->lines, fake_image(&m->f, "/bin/a"), some_lines());
	lines_set(m->lines, fake_image(&m->f, "/bin/b"), some_lines());
}

static void end(struct made *m)
{
	lines_free(m->lines);
	profile_put(m->p);
	fake_fini(&m->f);
}

Test(lines, a_place_has_a_file_and_a_line)
{
	struct line_place at;
	struct made m;

	begin(&m);
	cr_assert(lines_at(m.lines, 0, 0x1f, &at));
	cr_expect_str_eq(at.file, "/usr/src/main.c");
	cr_expect_eq(at.line, 7);
	cr_expect_null(at.inlined);
	cr_expect_not(lines_caller(&at));
	cr_expect_eq(at.line, 7, "unchanged");
	end(&m);
}

Test(lines, inlined_code_leads_to_its_callers)
{
	struct line_place at;
	struct made m;

	begin(&m);
	cr_assert(lines_at(m.lines, 0, 0x20, &at));
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
	end(&m);
}

Test(lines, where_nothing_is_known_is_no_place)
{
	struct line_place at;
	struct made m;

	begin(&m);
	cr_expect_not(lines_at(m.lines, 0, 0x0f, &at), "before all");
	cr_expect_not(lines_at(m.lines, 0, 0x30, &at), "a file without a name");
	cr_expect_not(lines_at(m.lines, 0, 0x50, &at), "indices that are none");
	cr_expect_not(lines_at(m.lines, 0, 0x60, &at), "behind all");
	cr_expect_not(lines_at(m.lines, 2, 0x10, &at), "an image without lines");
	cr_expect_not(lines_at(m.lines, 99, 0x10, &at), "no image");
	end(&m);
}

Test(lines, a_circle_of_callers_ends)
{
	struct line_place at;
	struct made m;

	begin(&m);
	cr_assert(lines_at(m.lines, 0, 0x40, &at));
	cr_assert(lines_caller(&at));
	cr_expect_null(at.file);
	cr_expect_not(lines_caller(&at));
	end(&m);
}

Test(lines, without_symbols_every_image_has_a_reason)
{
	struct made m;
	struct lines_query q = { .what = LINES_OF_SYMBOLS };
	struct lines *l;

	begin(&m);
	q.p = m.p;
	cr_assert_eq(lines_load(&q, &l, NULL), 0);
	for (uint32_t i = 0; i < 3; i++) {
		cr_expect_null(lines_image(l, i));
		cr_expect_not_null(lines_reason(l, i));
	}
	cr_expect_null(lines_reason(l, 99));
	lines_free(l);
	end(&m);
}

/* ---- in tables */

static void expect_table(struct made *m, const struct view_options *o, const char *want)
{
	struct strbuf out = { 0 };
	struct column_table table;
	struct view v;

	cr_assert_eq(view_init(&v, m->p, o), 0);
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
static void give_symbols(struct made *m)
{
	static const struct sym syms[] = { { .off = 0x20, .name = "x" },
					   { .off = 0x10, .name = "x" } };

	for (size_t i = 0; i < m->p->nr_rows; i++) {
		struct profile_row *row = &m->p->rows[i];

		if (row->image < 2)
			row->sym = &syms[row->image];
		row->name = "x";
	}
}

Test(lines, the_column_is_28_wide_and_says_where_nothing_is_known)
{
	struct view_options o = { .show_lines = true };
	struct made m;

	begin(&m);
	give_symbols(&m);
	o.lines = m.lines;
	expect_table(&m, &o,
		     "samples  %        linenr info                 app name"
		     "                 symbol name\n"
		     "5        33.3333  inline.h:3                  a                    "
		     "    x\n"
		     "5        33.3333  main.c:7                    b                    "
		     "    x\n"
		     "5        33.3333  (no location information)   c                    "
		     "    x\n");
	end(&m);
}

Test(lines, long_filenames_are_whole_paths)
{
	struct view_options o = { .show_lines = true, .long_filenames = true };
	struct made m;

	begin(&m);
	give_symbols(&m);
	o.lines = m.lines;
	o.exclude_dependent = true;
	expect_table(&m, &o,
		     "samples  %        linenr info                 app name"
		     "                 symbol name\n"
		     "5        33.3333  inline.h:3                  /bin/a               "
		     "    x\n"
		     "5        33.3333  /usr/src/main.c:7           /bin/b               "
		     "    x\n"
		     "5        33.3333  (no location information)   /bin/c               "
		     "    x\n");
	end(&m);
}

Test(lines, rows_are_sorted_by_file_and_line_also_without_the_column)
{
	static const enum view_key keys[][2] = { { VIEW_BY_DEBUG, VIEW_BY_SAMPLES },
						 { VIEW_BY_SAMPLES, VIEW_BY_DEBUG },
						 { VIEW_BY_SYMBOL, VIEW_BY_DEBUG } };

	for (size_t i = 0; i < 3; i++) {
		struct view_options o = { .nr_sort = 2,
					  .sort = { keys[i][0], keys[i][1] } };
		struct made m;

		begin(&m);
		give_symbols(&m);
		o.lines = m.lines;
		o.reverse = true;
		expect_table(&m, &o,
			     "samples  %        app name                 symbol name\n"
			     "5        33.3333  b                        x\n"
			     "5        33.3333  a                        x\n"
			     "5        33.3333  c                        x\n");
		end(&m);
	}
}

Test(lines, without_lines_the_column_knows_nothing)
{
	struct view_options o = { .show_lines = true };
	struct fake f;
	struct made m = { 0 };

	fake_init(&f);
	fake_file(&f, "/bin/a", "/bin/a", &event, 5);
	m.p = fake_load(&f, PROFILE_SYMBOLS);
	expect_table(&m, &o,
		     "samples  %        linenr info                 symbol name\n"
		     "5        100.000  (no location information)   /bin/a\n");
	profile_put(m.p);
	fake_fini(&f);
}
