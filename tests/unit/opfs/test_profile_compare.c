/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/profile/change.h"
#include "opfs/profile/compare.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "tests/unit/opfs/fake.h"

static const struct fake_event cycles = { "CYCLES", 1000, 0, 41 };
static const struct fake_event misses = { "MISSES", 50, 0, 41 };

static struct fake now, was;
static struct profile *p_now, *p_was, *both;
static struct err err;

static int compare(void)
{
	p_now = fake_load(&now, PROFILE_SYMBOLS);
	p_was = fake_load(&was, PROFILE_SYMBOLS);
	return profile_compare(p_now, p_was, &both, &err);
}

static void setup(void)
{
	fake_init(&now);
	fake_init(&was);
}

static void teardown(void)
{
	profile_put(both);
	profile_put(p_now);
	profile_put(p_was);
	fake_fini(&now);
	fake_fini(&was);
}

TestSuite(profile_compare, .init = setup, .fini = teardown);

static const struct profile_row *row_of(const char *image)
{
	for (size_t i = 0; i < both->nr_rows; i++)
		if (!strcmp(both->cat->images[both->rows[i].image].shown, image))
			return &both->rows[i];
	cr_assert_fail("no row of %s", image);
	return NULL;
}

Test(profile_compare, a_row_of_both_sides_has_both_counts)
{
	fake_file(&now, "/x/a", "/x/a", &cycles, 30);
	fake_file(&was, "/x/a", "/x/a", &cycles, 20);
	cr_assert_eq(compare(), 0, "%s", err.msg);
	cr_assert_eq(both->nr_rows, 1);
	cr_expect_eq(both->rows[0].samples[0], 30);
	cr_expect_eq(both->rows[0].was[0], 20);
	cr_expect_eq(both->classes[0].total, 30);
	cr_expect_eq(both->classes[0].was_total, 20);
}

Test(profile_compare, what_is_on_one_side_only_is_new_or_gone)
{
	const struct profile_row *row;

	fake_file(&now, "/x/new", "/x/new", &cycles, 30);
	fake_file(&now, "/x/both", "/x/both", &cycles, 1);
	fake_file(&was, "/x/gone", "/x/gone", &cycles, 20);
	fake_file(&was, "/x/both", "/x/both", &cycles, 2);
	cr_assert_eq(compare(), 0, "%s", err.msg);
	row = row_of("/x/new");
	cr_expect_eq(profile_changed(row->samples, row->was, row->gone, 0), PROFILE_NEW);
	row = row_of("/x/gone");
	cr_expect_eq(profile_changed(row->samples, row->was, row->gone, 0), PROFILE_GONE);
	cr_expect_eq(row->samples[0], 20);
	row = row_of("/x/both");
	cr_expect_eq(profile_changed(row->samples, row->was, row->gone, 0), PROFILE_BOTH);
	cr_expect_eq(both->classes[0].total, 31, "what is gone counts for nothing");
}

Test(profile_compare, the_only_applications_are_one_though_their_paths_differ)
{
	fake_file(&now, "/build2/prog-2", "/build2/prog-2", &cycles, 30);
	fake_file(&now, "/build2/prog-2", "/lib/c", &cycles, 3);
	fake_file(&was, "/build1/prog-1", "/build1/prog-1", &cycles, 20);
	fake_file(&was, "/build1/prog-1", "/lib/c", &cycles, 2);
	cr_assert_eq(compare(), 0, "%s", err.msg);
	cr_expect_eq(both->nr_rows, 2);
	cr_expect_eq(row_of("/build2/prog-2")->was[0], 20);
	cr_expect_eq(row_of("/lib/c")->was[0], 2);
}

Test(profile_compare, a_basename_pairs_only_if_it_is_the_only_one_on_both_sides)
{
	fake_file(&now, "/b2/x", "/b2/x", &cycles, 1);
	fake_file(&now, "/b2/y", "/b2/y", &cycles, 2);
	fake_file(&was, "/b1/x", "/b1/x", &cycles, 3);
	fake_file(&was, "/b0/y", "/b0/y", &cycles, 4);
	fake_file(&was, "/b1/y", "/b1/y", &cycles, 5);
	cr_assert_eq(compare(), 0, "%s", err.msg);
	cr_expect_eq(row_of("/b2/x")->was[0], 3);
	cr_expect_null(row_of("/b2/y")->was);
	cr_expect(row_of("/b0/y")->gone && row_of("/b1/y")->gone);
}

static void label_memory(struct fake *f)
{
	for (size_t i = 0; i < f->cat.nr_images; i++)
		if (f->cat.images[i].shown[0] == '[')
			f->cat.images[i].label = "[vdso]";
}

Test(profile_compare, memory_of_one_kind_is_one_row_whatever_the_process)
{
	fake_file(&now, "/x/a", "[vdso] (tgid:1 range:0x1000-0x1fff)", &cycles, 3);
	fake_file(&now, "/x/a", "[vdso] (tgid:2 range:0x1000-0x1fff)", &cycles, 4);
	fake_file(&was, "/x/a", "[vdso] (tgid:3 range:0x5000-0x5fff)", &cycles, 5);
	fake_file(&was, "/x/a", "[vdso] (tgid:4 range:0x6000-0x6fff)", &cycles, 6);
	label_memory(&now);
	label_memory(&was);
	cr_assert_eq(compare(), 0, "%s", err.msg);
	cr_assert_eq(both->nr_rows, 1);
	cr_expect_eq(both->rows[0].samples[0], 7);
	cr_expect_eq(both->rows[0].was[0], 11);
	cr_assert_eq(both->nr_pairs, 1);
	cr_expect_eq(both->pairs[0].samples[0], 7);
	cr_expect_eq(both->pairs[0].was[0], 11);
}

Test(profile_compare, memory_of_several_processes_has_the_name_of_none)
{
	fake_file(&now, "/x/a", "[vdso] (tgid:1 range:0x1000-0x1fff)", &cycles, 3);
	fake_file(&now, "/x/b", "[vdso] (tgid:2 range:0x1000-0x1fff)", &cycles, 4);
	label_memory(&now);
	cr_assert_eq(compare(), 0, "%s", err.msg);
	cr_assert_eq(both->nr_rows, 2);
	for (size_t i = 0; i < 2; i++) {
		cr_expect_str_eq(both->rows[i].name, "[vdso]");
		cr_expect_str_eq(both->cat->images[both->rows[i].image].shown, "[vdso]");
	}
}

Test(profile_compare, an_application_without_samples_is_paired_by_its_path)
{
	fake_file(&now, "/x/first", "/x/first", &cycles, 1);
	fake_file(&now, "/x/app", "/lib/c", &cycles, 3);
	fake_file(&was, "/x/first", "/x/first", &cycles, 2);
	fake_file(&was, "/x/app", "/lib/c", &cycles, 4);
	cr_assert_eq(compare(), 0, "%s", err.msg);
	cr_assert_eq(both->nr_rows, 2);
	cr_expect_eq(row_of("/x/first")->was[0], 2);
	cr_expect_eq(row_of("/lib/c")->was[0], 4);
	cr_expect_eq(both->nr_pairs, 2);
}

Test(profile_compare, a_side_without_samples_has_the_columns_of_the_other)
{
	fake_file(&was, "/x/a", "/x/a", &cycles, 4);
	cr_assert_eq(compare(), 0, "%s", err.msg);
	cr_assert_eq(both->nr_classes, 1);
	cr_expect_eq(both->classes[0].total, 0);
	cr_expect_eq(both->classes[0].was_total, 4);
	cr_assert_eq(both->nr_rows, 1);
	cr_expect(both->rows[0].gone && both->rows[0].samples[0] == 4);
}

Test(profile_compare, other_unit_masks_are_refused_and_named)
{
	static const struct fake_event masked = { "CYCLES", 1000, 3, 41 };

	fake_file(&now, "/x/a", "/x/a", &cycles, 30);
	fake_file(&was, "/x/a", "/x/a", &masked, 20);
	cr_expect_eq(compare(), -EINVAL);
	cr_expect_neq(strstr(err.msg, "CYCLES:1000 and CYCLES:1000:0x3"), NULL, "%s",
		      err.msg);
	both = NULL;
}

Test(profile_compare, different_events_are_refused)
{
	fake_file(&now, "/x/a", "/x/a", &cycles, 30);
	fake_file(&was, "/x/a", "/x/a", &misses, 20);
	cr_expect_eq(compare(), -EINVAL);
	cr_expect_neq(strstr(err.msg, "MISSES"), NULL, "%s", err.msg);
	both = NULL;
}

Test(profile_compare, growth_is_that_of_the_share)
{
	cr_expect_float_eq(profile_growth(120, 614, 120, 333), -45.7655, 1e-3);
	cr_expect_eq(profile_growth(5, 10, 0, 10), 0);
}

Test(profile_compare, a_difference_counts_beyond_three_standard_errors)
{
	/* 50 % and 60 % of 20 samples are the same; of 20,000 they are not */
	cr_expect_not(profile_significant(12, 20, 10, 20));
	cr_expect(profile_significant(12000, 20000, 10000, 20000));
	cr_expect_not(profile_significant(1, 0, 1, 1));
	/* pooled 0.55, error sqrt(0.55 * 0.45 * 2 / n): 0.1 is 3 errors at n = 445.5 */
	cr_expect_not(profile_significant(264, 440, 220, 440));
	cr_expect(profile_significant(270, 450, 225, 450));
}

/*
 * Probabilities are from exact fractions, in Python:
 *	sum(Fraction(comb(n2, x) * comb(n1, a + c - x), comb(n1 + n2, a + c))
 *	    for x in range(a, min(n2, a + c) + 1))
 * for a of n2 samples against c of n1; beyond 3 standard errors are 0.00135.
 */
Test(profile_compare, few_samples_differ_if_chance_is_exactly_that_improbable)
{
	static const struct {
		uint64_t samples, all, older, of;
		bool sure;
	} cases[] = {
		{ 1, 1, 0, 1, false },           /* 0.5 */
		{ 1, 1, 0, 10, false },          /* 0.0909, and 3.3 standard errors */
		{ 3, 3, 0, 3, false },           /* 0.05 */
		{ 5, 5, 0, 5, false },           /* 0.00397, and 3.16 standard errors */
		{ 6, 6, 0, 6, true },            /* 0.00108 */
		{ 7, 10, 0, 8, false },          /* 0.00377, and 3.0 standard errors */
		{ 0, 101, 5, 50, false },        /* 0.00346, and 3.2 standard errors */
		{ 9, 1000, 0, 1000, false },     /* 0.00192 */
		{ 10, 1000, 0, 1000, true },     /* 0.000955 */
		{ 2, 1000, 1, 100000, true },    /* 0.000292 */
		{ 1, 5, 0, 1000, false },        /* 0.00498 */
		{ 2, 5, 0, 1000, true },         /* 0.0000198 */
		{ 1, 1, 0, 100000, false },      /* 0.00001, but one sample */
		{ 0, 1, 100000, 100000, false }, /* the same of what it was not */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t samples = cases[i].samples, all = cases[i].all;
		uint64_t older = cases[i].older, of = cases[i].of;

		cr_expect_eq(profile_significant(samples, all, older, of), cases[i].sure,
			     "case %zu", i);
		cr_expect_eq(profile_significant(older, of, samples, all), cases[i].sure,
			     "case %zu, other way round", i);
		cr_expect_eq(profile_significant(all - samples, all, of - older, of),
			     cases[i].sure, "case %zu, what it is not", i);
	}
}

Test(profile_compare, an_exact_probability_of_billions_of_samples_takes_no_time)
{
	const uint64_t n = 4000000000;

	/* Poisson, as good as exactly: 31 or more of 12 expected 0.0000034, 20 0.021 */
	cr_expect(profile_significant(31, n / 1000, 12000, n));
	cr_expect_not(profile_significant(20, n / 1000, 12000, n));
	cr_expect_not(profile_significant(n / 2, n, n / 2 + 50000, n));
	cr_expect_not(profile_significant(99, n, 99, n));
	cr_expect_not(profile_significant(n, n, n, n));
	cr_expect_not(profile_significant(0, n, 0, n));
}
