/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>

#include "libsym/table/range.h"

Test(range, ranges_that_touch_or_overlap_become_one_in_any_order)
{
	struct sym_range r[] = {
		{ 30, 40 }, { 10, 20 }, { 20, 25 }, { 35, 36 }, { 7, 7 }
	};

	cr_assert_eq(sym_ranges_join(r, 5), 2);
	cr_expect(r[0].off == 10 && r[0].end == 25);
	cr_expect(r[1].off == 30 && r[1].end == 40);
	cr_expect_eq(sym_ranges_join(NULL, 0), 0);
}

Test(range, a_part_is_held_only_if_no_byte_is_missing)
{
	const struct sym_range all[] = { { 10, 20 }, { 30, 40 } };
	const struct sym_range in[] = { { 10, 11 }, { 19, 20 }, { 30, 40 } };
	const struct sym_range over[] = { { 15, 31 } }, before[] = { { 9, 12 } };
	const struct sym_range behind[] = { { 39, 41 } };

	cr_expect(sym_ranges_hold(all, 2, in, 3));
	cr_expect(sym_ranges_hold(all, 2, NULL, 0));
	cr_expect_not(sym_ranges_hold(all, 2, over, 1));
	cr_expect_not(sym_ranges_hold(all, 2, before, 1));
	cr_expect_not(sym_ranges_hold(all, 2, behind, 1));
	cr_expect_not(sym_ranges_hold(NULL, 0, in, 1));
}
