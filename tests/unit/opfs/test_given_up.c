/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>

#include "base/clock.h"
#include "opfs/session/given_up.h"

enum { ALICE = 60001, BOB };

static struct given_up g;

static void setup(void)
{
	given_up_init(&g);
}

TestSuite(given_up, .init = setup);

Test(given_up, a_session_is_and_no_other)
{
	given_up_add(&g, 1, 10);
	cr_expect(given_up_has(&g, 1, 10));
	cr_expect_not(given_up_has(&g, 2, 10));
	cr_expect_not(given_up_has(&g, 1, 11));
	cr_expect_not(given_up_has(&g, 0, 0));
}

Test(given_up, the_oldest_are_forgotten_when_there_are_many)
{
	for (uint64_t ino = 1; ino <= GIVEN_UP_MAX + 1; ino++)
		given_up_add(&g, 1, ino);
	cr_expect_not(given_up_has(&g, 1, 1));
	cr_expect(given_up_has(&g, 1, 2));
	cr_expect(given_up_has(&g, 1, GIVEN_UP_MAX + 1));
}

Test(given_up, what_one_owner_spends_is_no_other_ones)
{
	uint64_t all = given_up_left(&g, ALICE);

	cr_expect_gt(all, CLOCK_NS_PER_S);
	given_up_spend(&g, BOB, all - CLOCK_NS_PER_S);
	cr_expect_eq(given_up_left(&g, BOB), CLOCK_NS_PER_S);
	given_up_spend(&g, BOB, all);
	cr_expect_eq(given_up_left(&g, BOB), 0u);
	cr_expect_eq(given_up_left(&g, ALICE), all);
}
