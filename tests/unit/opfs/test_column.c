/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/column.h"

#include <criterion/criterion.h>

#include "tests/unit/opfs/fake.h"

static const struct fake_event cycles = { "CYCLES", 1000, 0, 41 };

static char *table(struct fake *f, const struct view_options *o)
{
	struct profile *p = fake_load(f, PROFILE_SYMBOLS);
	struct strbuf out = { 0 };
	struct view v;
	struct column_table t;

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
