/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "tests/unit/libsym/index_new.h"

static uint32_t find(const struct sym *syms, size_t nr, uint64_t off)
{
	struct sym_index *x = index_new(syms, nr);
	uint32_t at = sym_index_find(x, off);
	free(x);
	return at;
}

Test(index, of_no_symbols_covers_nothing)
{
	cr_expect_eq(find(NULL, 0, 0), SYM_INDEX_NONE);
	cr_expect_eq(sym_index_find(NULL, 7), SYM_INDEX_NONE);
}

Test(index, a_symbol_covers_its_bytes_and_no_more)
{
	static const struct sym one[] = { { .off = 100, .size = 10 } };

	cr_expect_eq(find(one, 1, 99), SYM_INDEX_NONE);
	cr_expect_eq(find(one, 1, 100), 0);
	cr_expect_eq(find(one, 1, 109), 0);
	cr_expect_eq(find(one, 1, 110), SYM_INDEX_NONE);
	cr_expect_eq(find(one, 1, UINT64_MAX), SYM_INDEX_NONE);
}

Test(index, the_innermost_of_nested_symbols_wins)
{
	static const struct sym nest[] = {
		{ .off = 0, .size = 100 },
		{ .off = 10, .size = 50 },
		{ .off = 20, .size = 5 },
		{ .off = 55, .size = 20 }, /* ends behind the second */
	};

	cr_expect_eq(find(nest, 4, 9), 0);
	cr_expect_eq(find(nest, 4, 10), 1);
	cr_expect_eq(find(nest, 4, 24), 2);
	cr_expect_eq(find(nest, 4, 25), 1);
	cr_expect_eq(find(nest, 4, 55), 3);
	cr_expect_eq(find(nest, 4, 74), 3);
	cr_expect_eq(find(nest, 4, 75), 0);
	cr_expect_eq(find(nest, 4, 100), SYM_INDEX_NONE);
}

Test(index, one_far_away_symbol_does_not_hurt_the_others)
{
	static const struct sym far[] = {
		{ .off = 0, .size = 1 },
		{ .off = 1, .size = 1 },
		{ .off = 5, .size = 2 },
		{ .off = UINT64_MAX - 10, .size = 10 },
	};

	cr_expect_eq(find(far, 4, 1), 1);
	cr_expect_eq(find(far, 4, 2), SYM_INDEX_NONE);
	cr_expect_eq(find(far, 4, 6), 2);
	cr_expect_eq(find(far, 4, UINT64_MAX - 1), 3);
	cr_expect_eq(find(far, 4, UINT64_MAX), SYM_INDEX_NONE);
}

/* The last one that starts at or before @off and still covers it. */
static uint32_t slow_find(const struct sym *syms, size_t nr, uint64_t off)
{
	for (size_t i = nr; i-- > 0;)
		if (syms[i].off <= off && off - syms[i].off < syms[i].size)
			return (uint32_t)i;
	return SYM_INDEX_NONE;
}

Test(index, agrees_with_a_plain_search_on_random_tables)
{
	struct sym syms[60];

	srandom(1);
	for (int round = 0; round < 300; round++) {
		size_t nr = 1 + (size_t)random() % 60;
		uint64_t off = (uint64_t)random() % 50;
		struct sym_index *x;

		for (size_t i = 0; i < nr; i++) {
			syms[i] = (struct sym){ .off = off,
						.size = 1 + (uint64_t)random() % 40 };
			off += 1 + (uint64_t)random() % (random() % 10 ? 20 : 5000);
		}
		x = index_new(syms, nr);
		for (uint64_t at = 0; at < off + 50; at++)
			cr_assert_eq(sym_index_find(x, at), slow_find(syms, nr, at),
				     "round %d offset %lu", round, (unsigned long)at);
		free(x);
	}
}
