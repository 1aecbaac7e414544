/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/priority.h"

#include <criterion/criterion.h>
#include <sched.h>

#define S 1000000000ULL

static int policy(void)
{
	return sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
}

Test(priority, none_is_wanted)
{
	struct priority p;

	priority_raise(&p, 0);
	cr_expect(!p.real_time);
	priority_watch(&p, 2 * S, 0);
	cr_expect_eq(policy(), SCHED_OTHER);
}

Test(priority, a_thread_that_works_for_long_has_no_real_time_for_a_second)
{
	struct priority p;

	priority_raise(&p, 1);
	if (!p.level)
		cr_skip_test("real time is refused here");
	cr_expect_eq(policy(), SCHED_FIFO);
	priority_watch(&p, 10 * S, 5 * S);
	cr_expect_eq(policy(), SCHED_FIFO);
	/* not looked at within a second */
	priority_watch(&p, 10 * S + S / 2, 6 * S);
	cr_expect_eq(policy(), SCHED_FIFO);
	priority_watch(&p, 11 * S, 6 * S);
	cr_expect_eq(policy(), SCHED_OTHER);
	priority_watch(&p, 12 * S, 7 * S);
	cr_expect_eq(policy(), SCHED_OTHER);
	priority_watch(&p, 13 * S, 7 * S + S / 4);
	cr_expect_eq(policy(), SCHED_FIFO);
}
