/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdint.h>

#include "base/share.h"

static struct share s;

/* How many single units a user can take. */
static unsigned take_all(uid_t uid)
{
	unsigned nr = 0;

	while (!share_take(&s, uid, 1))
		nr++;
	return nr;
}

Test(share, each_user_leaves_half_of_what_there_is)
{
	share_init(&s, 16, true);
	cr_expect_eq(take_all(1), 8u);
	cr_expect_eq(take_all(2), 4u);
	cr_expect_eq(take_all(3), 2u);
	cr_expect_eq(take_all(4), 1u);
	cr_expect_eq(take_all(5), 1u);
	cr_expect_eq(take_all(6), 0u);
	share_fini(&s);
}

Test(share, the_only_unit_is_for_anybody)
{
	share_init(&s, 1, true);
	cr_expect_eq(take_all(1), 1u);
	cr_expect_eq(share_take(&s, 2, 1), -EAGAIN);
	share_give(&s, 1, 1);
	cr_expect_eq(take_all(2), 1u);
	share_fini(&s);
}

Test(share, what_is_given_back_is_free_for_all)
{
	share_init(&s, 8, true);
	cr_expect_eq(take_all(1), 4u);
	cr_expect_eq(take_all(2), 2u);
	share_give(&s, 2, 2);
	cr_expect_eq(share_of(&s, 2), 0u);
	cr_expect_eq(take_all(1), 0u, "half of it is his already");
	share_give(&s, 1, 4);
	cr_expect_eq(s.used, 0u);
	cr_expect_eq(take_all(2), 4u);
	share_fini(&s);
}

Test(share, amounts_are_bounded_as_a_sum_of_units_is)
{
	share_init(&s, 1000, true);
	cr_expect_eq(share_take(&s, 1, 501), -EAGAIN);
	cr_expect_eq(share_take(&s, 1, UINT64_MAX), -EAGAIN);
	cr_expect_eq(share_take(&s, 1, 500), 0);
	cr_expect_eq(share_take(&s, 1, 1), -EAGAIN);
	cr_expect_eq(share_take(&s, 2, 251), -EAGAIN);
	cr_expect_eq(share_take(&s, 2, 250), 0);
	cr_expect_eq(share_take(&s, 3, 0), 0);
	share_fini(&s);
}

Test(share, a_single_user_may_have_all)
{
	share_init(&s, 5, false);
	cr_expect_eq(take_all(7), 5u);
	share_fini(&s);
}
