/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/percent.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *text(double percent)
{
	static char out[PERCENT_MAX];

	percent_format(percent, out);
	return out;
}

Test(percent, zero_is_a_single_digit)
{
	cr_expect_str_eq(text(0), "      0");
}

Test(percent, four_digits_of_fraction_in_seven_columns)
{
	cr_expect_str_eq(text(32.1787), "32.1787");
	cr_expect_str_eq(text(8.20421), " 8.2042");
	cr_expect_str_eq(text(0.0912), " 0.0912");
}

Test(percent, one_hundred_loses_a_digit)
{
	cr_expect_str_eq(text(100), "100.000");
	cr_expect_str_eq(text(99.99999), "100.000");
	cr_expect_str_eq(text(99.99994), "99.9999");
}

Test(percent, small_shares_are_scientific)
{
	cr_expect_str_eq(text(0.001), "1.0e-03");
	cr_expect_str_eq(text(0.0010001), " 0.0010");
	cr_expect_str_eq(text(0.00032), "3.2e-04");
	cr_expect_str_eq(text(1e-15), "1.0e-15");
}

static const char *change(double percent)
{
	static char out[PERCENT_MAX];

	percent_format_change(percent, out);
	return out;
}

Test(percent, a_change_has_a_sign_unless_it_is_none)
{
	cr_expect_str_eq(change(0), "      0");
	cr_expect_str_eq(change(8.2), "+8.2000");
	cr_expect_str_eq(change(-46.4225), "-46.4225");
	cr_expect_str_eq(change(100), "+100.0000");
	cr_expect_str_eq(change(0.00032), "+3.2e-04");
	cr_expect_str_eq(change(-0.001), "-1.0e-03");
}

Test(percent, of_nothing_is_zero)
{
	cr_expect_eq(percent_of(0, 0), 0);
	cr_expect_eq(percent_of(5, 0), 0);
	cr_expect_eq(percent_of(1, 4), 25);
	cr_expect_eq(percent_of(UINT64_MAX, UINT64_MAX), 100);
}

Test(percent, never_outgrows_its_buffer)
{
	cr_expect_lt(strlen(text(1e300)), PERCENT_MAX);
	cr_expect_lt(strlen(text(5e-324)), PERCENT_MAX);
}

Test(percent, standard_error_is_binomial)
{
	cr_expect(fabs(percent_error(1, 4) - 21.650635) < 1e-6);
	cr_expect(fabs(percent_error(3, 4) - percent_error(1, 4)) < 1e-12);
	cr_expect_eq(percent_error(0, 4), 0);
	cr_expect_eq(percent_error(4, 4), 0);
	cr_expect_eq(percent_error(0, 0), 0);
	cr_expect_eq(percent_error(5, 4), 0);
}

Test(percent, is_what_printf_makes_of_it)
{
	char want[PERCENT_MAX];
	uint64_t seed = 7;

	for (int i = 0; i < 300000; i++) {
		double percent;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		/* also halves of the last digit, where rounding is hardest */
		percent = i % 2 ? percent_of(seed >> 40, (1u << 24) + (seed & 0xfff))
				: (double)(seed >> 44) / 20000.0 + 0.00105;
		if (percent <= 0.001 || percent >= 100)
			continue;
		snprintf(want, sizeof(want), "%7.4f", percent);
		if (strcmp(want, "100.0000") != 0)
			cr_assert_str_eq(text(percent), want, "%.17g", percent);
	}
}

/* What printf() would write, with the two rules of percent_format(). */
static const char *by_printf(double percent)
{
	static char out[PERCENT_MAX];

	snprintf(out, sizeof(out),
		 percent == 0      ? "      0"
		 : percent > 0.001 ? "%7.4f"
				   : "%7.1e",
		 percent);
	if (!strcmp(out, "100.0000"))
		out[7] = '\0';
	return out;
}

Test(percent, is_what_printf_writes)
{
	char fixed[PERCENT_MAX], expected[PERCENT_MAX];
	uint64_t seed = 1;

	for (int i = 0; i < 300000; i++) {
		double percent;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		if (i % 3 == 0) /* ends in 5, which is rounded by what is behind it */
			percent = (double)(seed >> 33) / 1e4 / (double)(1 << i % 30) / 2;
		else
			percent = percent_of(seed >> 50, (seed >> 20) + 1) *
				  (i % 7 ? 1 : 1e6);
		cr_assert_str_eq(text(percent), by_printf(percent), "%.17g", percent);
		percent_format_fixed(percent, fixed);
		snprintf(expected, sizeof(expected), "%.4f", percent);
		cr_assert_str_eq(fixed, expected, "%.17g", percent);
	}
	for (int i = 1; i < 1000; i++) /* halves of the last digit */
		for (double unit = 1e-12; unit < 1e-3; unit *= 10)
			cr_assert_str_eq(text(i * unit / 20), by_printf(i * unit / 20));
}
