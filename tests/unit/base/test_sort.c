/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/sort.h"

/* Sizes around those at which the way of sorting changes, and keys that differ in all
 * bits, few, the highest only, or none. */
static const size_t sizes[] = {
	0, 1, 2, 11, 12, 13, 24, 25, 100, 1023, 1024, 1025, 16383, 16384, 50000,
};
static const struct {
	uint64_t mask;
	unsigned shift;
} keys[] = {
	{ UINT64_MAX, 0 }, { 0xff, 0 }, { 0xfff, 20 }, { 3, 62 },
	{ 1, 63 },         { 0, 0 },    { 1, 0 },      { 0xffffff, 7 },
};

static uint64_t seed = 1;

static uint64_t draw(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static void expect_sorted(const struct sort_item *items, size_t nr, const uint64_t *was)
{
	for (size_t i = 0; i < nr; i++) {
		cr_assert_eq(items[i].key, was[items[i].a]);
		cr_assert_eq(items[i].b, ~items[i].a);
		if (i)
			cr_assert(items[i - 1].key < items[i].key ||
				  (items[i - 1].key == items[i].key &&
				   items[i - 1].a < items[i].a));
	}
}

Test(sort, is_by_key_and_keeps_the_order_of_equal_ones)
{
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
		for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
			size_t nr = sizes[s];
			struct sort_item *items = calloc(nr + 1, sizeof(*items));
			struct sort_item *spare = calloc(nr + 1, sizeof(*spare));
			uint64_t *was = calloc(nr + 1, sizeof(*was));

			cr_assert(items && spare && was);
			for (size_t i = 0; i < nr; i++) {
				was[i] = (draw() & keys[k].mask) << keys[k].shift;
				items[i] = (struct sort_item){ was[i], (uint32_t)i,
							       ~(uint32_t)i };
			}
			sort_items(items, nr, spare);
			expect_sorted(items, nr, was);
			free(items);
			free(spare);
			free(was);
		}
}

Test(sort, is_the_same_of_what_is_sorted_or_the_other_way_round)
{
	enum { NR = 3000 };
	static struct sort_item items[NR], spare[NR];
	static uint64_t was[NR];

	for (int down = 0; down < 2; down++) {
		for (uint32_t i = 0; i < NR; i++) {
			was[i] = down ? NR - i / 3 : i / 3;
			items[i] = (struct sort_item){ was[i], i, ~i };
		}
		sort_items(items, 900, spare);
		expect_sorted(items, 900, was);
		sort_items(items, NR, spare);
		cr_expect_eq(items[NR - 1].key, was[down ? 0 : NR - 1]);
	}
}
