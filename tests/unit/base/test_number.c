/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>

#include "base/number.h"

Test(number, is_digits_and_nothing_else)
{
	static const char *const bad[] = {
		"", " 1", "+1", "-1", "1 ", "0x1", "1a", "1.0"
	};
	uint64_t n = 7;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect(!number_parse(bad[i], 10, UINT64_MAX, &n), "%s", bad[i]);
	cr_expect_eq(n, 7, "untouched on failure");
	cr_expect(number_parse("007", 10, 7, &n) && n == 7);
	cr_expect(number_parse("fF", 16, 255, &n) && n == 255);
	cr_expect(number_parse("17", 8, 15, &n) && n == 15);
	cr_expect(!number_parse("8", 8, 15, &n));
}

Test(number, is_refused_beyond_its_maximum)
{
	uint64_t n;

	cr_expect(number_parse("18446744073709551615", 10, UINT64_MAX, &n));
	cr_expect_eq(n, UINT64_MAX);
	cr_expect(!number_parse("18446744073709551616", 10, UINT64_MAX, &n));
	cr_expect(!number_parse("99999999999999999999", 10, UINT64_MAX, &n));
	cr_expect(!number_parse("10000000000000000", 16, UINT64_MAX, &n));
	cr_expect(!number_parse("256", 10, 255, &n));
}

Test(number, is_an_amount_with_a_unit_of_time_or_bytes)
{
	static const struct {
		const char *text;
		uint64_t n;
		bool bytes;
	} all[] = {
		{ "2s", 2, false },      { "10m", 600, false },   { "1h", 3600, false },
		{ "7d", 604800, false }, { "16K", 16384, true },  { "16k", 16384, true },
		{ "1M", 1 << 20, true }, { "1G", 1 << 30, true },
	};
	static const char *const bad[] = {
		"", "k", "1kk", "1kB", "1g", "1x", "-1k", "1 k"
	};
	const struct number_unit *unit;
	uint64_t n;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		cr_assert_eq(number_amount(all[i].text, &unit, &n), 0, "%s", all[i].text);
		cr_expect(n == all[i].n && unit && unit->bytes == all[i].bytes, "%s",
			  all[i].text);
	}
	cr_expect(!number_amount("90", &unit, &n) && n == 90 && !unit);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect_neq(number_amount(bad[i], &unit, &n), 0, "%s", bad[i]);
	cr_expect_neq(number_amount("99999999999999999k", &unit, &n), 0);
}

Test(number, digits_may_be_followed_by_a_unit)
{
	uint64_t n = 0;

	cr_expect_eq(number_digits("90s", 10, &n), 2);
	cr_expect_eq(n, 90);
	cr_expect_eq(number_digits("s", 10, &n), 0);
}
