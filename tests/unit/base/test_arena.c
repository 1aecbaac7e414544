/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/cleanup.h"

enum { MANY = 5000 };

static size_t nth_size(size_t i)
{
	return i % 97 == 0 ? 9000 + i : i % 61;
}

Test(arena, hands_out_zeroed_aligned_memory_that_does_not_overlap)
{
	CLEANUP(arena_fini) struct arena a = { 0 };
	static unsigned char *at[MANY];

	for (size_t i = 0; i < MANY; i++) {
		at[i] = arena_alloc(&a, nth_size(i));
		cr_assert_not_null(at[i]);
		cr_assert_eq((uintptr_t)at[i] % alignof(max_align_t), 0);
		for (size_t k = 0; k < nth_size(i); k++)
			cr_assert_eq(at[i][k], 0);
		memset(at[i], (int)(i % 255 + 1), nth_size(i));
	}
	for (size_t i = 0; i < MANY; i++)
		for (size_t k = 0; k < nth_size(i); k++)
			cr_assert_eq(at[i][k], i % 255 + 1);
}

Test(arena, refuses_sizes_that_overflow)
{
	CLEANUP(arena_fini) struct arena a = { 0 };

	cr_expect_null(arena_calloc(&a, SIZE_MAX / 2, 4));
	cr_expect_null(arena_alloc(&a, SIZE_MAX));
	cr_expect_null(arena_alloc(&a, SIZE_MAX - 20));
	cr_expect_null(arena_memdup(&a, "", SIZE_MAX));
	cr_expect_not_null(arena_alloc(&a, 10));
}

Test(arena, copies_strings_and_bytes)
{
	CLEANUP(arena_fini) struct arena a = { 0 };

	cr_expect_str_eq(arena_strdup(&a, "hello"), "hello");
	cr_expect_str_eq(arena_strdup(&a, ""), "");
	cr_expect_eq(memcmp(arena_memdup(&a, "a\0b", 3), "a\0b", 4), 0);
	cr_expect_str_eq(arena_memdup(&a, NULL, 0), "");
}

Test(arena, tells_its_cost_without_much_waste)
{
	CLEANUP(arena_fini) struct arena a = { 0 };
	size_t wanted = 0;

	cr_expect_eq(a.total, 0);
	for (size_t i = 0; i < MANY; i++) {
		arena_alloc(&a, 48);
		wanted += 48;
	}
	cr_expect_geq(a.total, wanted);
	cr_expect_leq(a.total, 2 * wanted + 4096);
}

Test(arena, is_empty_and_usable_after_fini)
{
	CLEANUP(arena_fini) struct arena a = { 0 };

	arena_alloc(&a, 100000);
	arena_alloc(&a, 1);
	arena_fini(&a);
	cr_expect_eq(a.total, 0);
	cr_expect_not_null(arena_alloc(&a, 1));
}
