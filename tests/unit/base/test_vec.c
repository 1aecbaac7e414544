/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/vec.h"

Test(vec, keeps_values_in_order)
{
	VEC(int) v = { 0 };
	int sum = 0;

	for (int i = 0; i < 1000; i++)
		cr_assert_eq(vec_push(&v, i), 0);
	cr_expect_eq(v.len, 1000);
	for (int i = 0; i < 1000; i++)
		cr_assert_eq(v.data[i], i);
	vec_for(&v, it)
		sum += *it;
	cr_expect_eq(sum, 499500);
	vec_fini(&v);
	cr_expect_null(v.data);
	cr_expect_eq(v.len, 0);
}

Test(vec, holds_structures)
{
	struct pair {
		int a, b;
	};
	VEC(struct pair) v = { 0 };

	cr_assert_eq(vec_push(&v, ((struct pair){ 1, 2 })), 0);
	cr_expect_eq(v.data[0].b, 2);
	vec_fini(&v);
}

Test(vec, refuses_room_that_overflows_and_stays_as_it_was)
{
	VEC(uint64_t) v = { 0 };

	cr_assert_eq(vec_push(&v, 7), 0);
	cr_expect_eq(vec_reserve(&v, SIZE_MAX), -ENOMEM);
	cr_expect_eq(vec_reserve(&v, SIZE_MAX / 8), -ENOMEM);
	cr_expect_eq(v.len, 1);
	cr_expect_eq(v.data[0], 7);
	vec_fini(&v);
}

Test(cleanup, take_leaves_zero_behind)
{
	CLEANUP(free_ptr) char *mine = strdup("x");
	CLEANUP(free_ptr) char *yours = TAKE(mine);

	cr_expect_null(mine);
	cr_expect_str_eq(yours, "x");
}

Test(cleanup, take_fd_leaves_no_descriptor)
{
	CLEANUP(close_fd) int fd = dup(0);
	CLEANUP(close_fd) int taken = take_fd(&fd);

	cr_expect_eq(fd, -1);
	cr_expect_geq(taken, 0);
}
