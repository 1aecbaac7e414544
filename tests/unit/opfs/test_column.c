/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/column.h"

#include <criterion/criterion.h>
#include <string.h>

#include "tests/unit/opfs/fake.h"

static const struct fake_event cycles = { "CYCLES", 1000, 0, 41 };

static char *table(struct fake *f, const struct view_options *o)
{
	struct profile *p = fake_load(f, PROFILE_SYMBOLS);
	struct strbuf out = { 0 };
	struct view v;
	struct column_table t;

	p->rows[0].kind = PROFILE_ROW_SYMBOL;
	p->rows[0].vma = 0x1234;
	cr_assert_eq(view_init(&v, p, o), 0);
	cr_assert_eq(column_table_init(&t, &v), 0);
	column_titles(&t, &out);
	for (size_t i = 0; i < v.nr_rows; i++)
		column_row(&t, v.rows[i], &out);
	column_table_fini(&t);
	view_fini(&v);
	profile_put(p);
	return strbuf_take(&out);
}

static void expect_table(struct fake *f, const struct view_options *o, const char *want)
{
	char *got = table(f, o);

	cr_expect_str_eq(got, want, "got\n%s", got);
	free(got);
	fake_fini(f);
}

Test(column, only_an_application_of_its_own_needs_no_names)
{
	struct fake f;

	fake_init(&f);
	fake_file(&f, "/bin/a", "/bin/a", &cycles, 3);
	expect_table(&f, &(struct view_options){ 0 },
		     "samples  %        symbol name\n"
		     "3        100.000  /bin/a\n");
}

Test(column, a_long_field_pushes_the_rest_by_one_blank)
{
	struct fake f;

	fake_init(&f);
	fake_file(&f, "/bin/a", "/lib/exactly-25-bytes-long.so.1", &cycles, 1234567890);
	fake_file(&f, "/bin/a", "/lib/longer-than-25-bytes-it-is.so", &cycles, 1);
	expect_table(&f, &(struct view_options){ 0 },
		     "samples  %        image name               symbol name\n"
		     "1234567890 100.000  exactly-25-bytes-long.so.1 "
		     "/lib/exactly-25-bytes-long.so.1\n"
		     "1        8.1e-08  longer-than-25-bytes-it-is.so "
		     "/lib/longer-than-25-bytes-it-is.so\n");
}

Test(column, one_address_over_32_bits_widens_all)
{
	struct fake f;
	struct profile *p;
	struct view v;
	struct strbuf out = { 0 };
	struct column_table t;

	fake_init(&f);
	fake_file(&f, "/bin/a", "/bin/a", &cycles, 3);
	fake_file(&f, "/bin/a", "/bin/b", &cycles, 2);
	p = fake_load(&f, PROFILE_SYMBOLS);
	p->rows[0].kind = p->rows[1].kind = PROFILE_ROW_SYMBOL;
	p->rows[0].vma = 0xffffffff81000000;
	p->rows[1].vma = 0x10;
	cr_assert_eq(view_init(&v, p, &(struct view_options){ .show_address = true }), 0);
	cr_assert_eq(column_table_init(&t, &v), 0);
	for (size_t i = 0; i < v.nr_rows; i++)
		column_row(&t, v.rows[i], &out);
	cr_expect_str_eq(
		strbuf_str(&out),
		"ffffffff81000000 3        60.0000  a                        /bin/a\n"
		"0000000000000010 2        40.0000  b                        /bin/b\n");
	strbuf_fini(&out);
	column_table_fini(&t);
	view_fini(&v);
	profile_put(p);
	fake_fini(&f);
}

Test(column, control_bytes_cannot_break_lines)
{
	struct fake f;

	fake_init(&f);
	fake_file(&f, "/bin/a\nb", "/bin/a\nb", &cycles, 3);
	expect_table(&f, &(struct view_options){ 0 },
		     "samples  %        symbol name\n"
		     "3        100.000  /bin/a%0Ab\n");
}

Test(column, applications_are_named_only_where_rows_are_of_several)
{
	struct fake f;

	fake_init(&f);
	fake_file(&f, "/bin/a", "/bin/a", &cycles, 60);
	fake_file(&f, "/bin/a", "/lib/b", &cycles, 39);
	fake_file(&f, "/bin/c", "/bin/c", &cycles, 1);
	expect_table(&f, &(struct view_options){ .threshold = 2 },
		     "samples  %        image name               symbol name\n"
		     "60       60.0000  a                        /bin/a\n"
		     "39       39.0000  b                        /lib/b\n");
}

Test(column, a_single_name_is_enough_where_each_image_is_its_own_application)
{
	struct fake f;

	fake_init(&f);
	fake_file(&f, "/bin/a", "/bin/a", &cycles, 3);
	fake_file(&f, "/bin/b", "/bin/b", &cycles, 1);
	expect_table(&f, &(struct view_options){ 0 },
		     "samples  %        app name                 symbol name\n"
		     "3        75.0000  a                        /bin/a\n"
		     "1        25.0000  b                        /bin/b\n");
}

Test(column, unit_masks_are_named_over_their_columns_and_rows_are_by_their_sum)
{
	struct fake f;

	fake_init(&f);
	for (uint64_t mask = 1; mask <= 8; mask <<= 1) {
		const struct fake_event e = { "l2_rqsts_of_all", 1000000, mask, 41 };

		fake_file(&f, "/bin/a", "/bin/a", &e, mask == 1 ? 5 : 0);
		fake_file(&f, "/bin/a", "/lib/b", &e, mask == 1 ? 1 : 3);
	}
	expect_table(&f, &(struct view_options){ .show_address = true },
		     "         l2_rqsts_...:0x01 l2_rqsts_...:0x02 l2_rqsts_...:0x04 "
		     "l2_rqsts_...:0x08\n"
		     "vma      samples  %        samples  %        samples  %        "
		     "samples  %        image name               symbol name\n"
		     "00000000 1        16.6667  3        100.000  3        100.000  "
		     "3        100.000  b                        /lib/b\n"
		     "00001234 5        83.3333  0              0  0              0  "
		     "0              0  a                        /bin/a\n");
}

/* The cells of a line, each in brackets. */
static void expect_cells(const struct column_layout *layout, const char *line,
			 const char *want)
{
	static struct column_cell cells[COLUMN_MAX_CELLS];
	struct strbuf got = { 0 };
	size_t nr = column_read_row(layout, line, strlen(line), cells);

	for (size_t i = 0; i < nr; i++)
		strbuf_printf(&got, "[%.*s]", (int)cells[i].len, line + cells[i].start);
	cr_expect_str_eq(strbuf_str(&got), want);
	strbuf_fini(&got);
}

Test(column, cells_of_a_line_are_found_again)
{
	static struct column_layout l;
	const char *titles =
		"vma      samples  %        samples  cum. samples  %        "
		"cum. %     linenr info                 image name           "
		"    app name                 symbol name";

	cr_assert(column_read_titles(titles, strlen(titles), &l));
	cr_expect_eq(l.nr, 11);
	cr_expect_eq(l.cells[7].kind, COLUMN_PLACE);
	cr_expect_eq(l.cells[8].kind, COLUMN_IMAGE);
	cr_expect_eq(l.cells[9].kind, COLUMN_APP);
	cr_expect_eq(l.cells[10].kind, COLUMN_SYMBOL);
	expect_cells(
		&l,
		"00001000 3              0  1        1             100.000  100.000 "
		"   (no location information)   a name                   prog         "
		"            f(int, char)",
		"[00001000][3][      0][1][1][100.000][100.000]"
		"[(no location information)][a name][prog][f(int, char)]");
	expect_cells(
		&l,
		"  00001000 3        100.000  1        1             100.000  100.000 "
		"   x.c:7",
		"[00001000][3][100.000][1][1][100.000][100.000][x.c:7]");
}

Test(column, a_cell_longer_than_its_column_ends_at_a_blank)
{
	static struct column_layout l;
	const char *titles = "samples  %        image name               symbol name";

	cr_assert(column_read_titles(titles, strlen(titles), &l));
	expect_cells(&l, "1234567890 100.000  exactly-25-bytes-long.so. f(int)",
		     "[1234567890][100.000][exactly-25-bytes-long.so.][f(int)]");
	expect_cells(&l, "1        8.1e-08  longer-than-25-bytes-it-is.so f",
		     "[1][8.1e-08][longer-than-25-bytes-it-is.so][f]");
	expect_cells(&l, "", "");
	expect_cells(&l, "7", "[7]");
}

Test(column, what_is_no_line_of_titles_is_told_apart)
{
	static struct column_layout l;
	static const char *const lines[] = {
		"",
		"samples",
		"samples  %",
		"samples %        symbol name",
		"samples  %        symbol name of",
		"Counted CYCLES events with a unit mask of 0x00 count 1000",
		"3        100.000  f",
	};
	char much[COLUMN_MAX_CELLS * 9 + 100];

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		cr_expect_not(column_read_titles(lines[i], strlen(lines[i]), &l), "%s",
			      lines[i]);
	memset(much, ' ', sizeof(much));
	for (size_t i = 0; i + 9 < sizeof(much); i += 9)
		much[i] = '%';
	cr_expect_not(column_read_titles(much, sizeof(much), &l));
}
