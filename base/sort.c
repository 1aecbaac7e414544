/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/sort.h"

#include <stdbool.h>
#include <string.h>

enum {
	RUN = 12,        /* so many are sorted by insertion, */
	MERGED = 1024,   /* so many by merging; more by their digits */
	DIGIT_BITS = 11, /* of more than MANY; */
	MANY = 16384,
	FEW_BITS = 8, /* of fewer */
};

static void insert(struct sort_item *items, size_t nr)
{
	for (size_t i = 1; i < nr; i++) {
		struct sort_item x = items[i];
		size_t at = i;

		for (; at && items[at - 1].key > x.key; at--)
			items[at] = items[at - 1];
		items[at] = x;
	}
}

/* Merges two sorted runs, from[0, mid) and from[mid, end). */
static void merge(const struct sort_item *from, size_t mid, size_t end,
		  struct sort_item *to)
{
	size_t i = 0, j = mid;

	while (i < mid && j < end) {
		bool right = from[j].key < from[i].key;

		*to++ = from[right ? j : i];
		j += right;
		i += !right;
	}
	memcpy(to, from + i, (mid - i) * sizeof(*to));
	memcpy(to + (mid - i), from + j, (end - j) * sizeof(*to));
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Returns where the sorted items are: @items or @spare. */
static struct sort_item *sort_merging(struct sort_item *items, size_t nr,
				      struct sort_item *spare)
{
	for (size_t at = 0; at < nr; at += RUN)
		insert(items + at, smaller(RUN, nr - at));
	for (size_t width = RUN; width < nr; width *= 2) {
		struct sort_item *sorted = spare;

		for (size_t at = 0; at < nr; at += 2 * width)
			merge(items + at, smaller(width, nr - at),
			      smaller(2 * width, nr - at), spare + at);
		spare = items;
		items = sorted;
	}
	return items;
}

/* Sorts by @bits of the key at @shift.  False: all are equal there, @to is as it was. */
static bool sort_digit(const struct sort_item *from, struct sort_item *to, size_t nr,
		       unsigned shift, unsigned bits)
{
	uint32_t starts[1 << DIGIT_BITS] = { 0 };
	uint64_t mask = (1u << bits) - 1;
	uint32_t sum = 0;

	for (size_t i = 0; i < nr; i++)
		starts[from[i].key >> shift & mask]++;
	if (starts[from[0].key >> shift & mask] == nr)
		return false;
	for (size_t i = 0; i <= mask; i++) {
		uint32_t n = starts[i];

		starts[i] = sum;
		sum += n;
	}
	for (size_t i = 0; i < nr; i++)
		to[starts[from[i].key >> shift & mask]++] = from[i];
	return true;
}

static struct sort_item *sort_digits(struct sort_item *items, size_t nr,
				     struct sort_item *spare)
{
	unsigned bits = nr < MANY ? FEW_BITS : DIGIT_BITS, shift;
	uint64_t differ = 0;

	for (size_t i = 1; i < nr; i++)
		differ |= items[i].key ^ items[0].key;
	if (!differ)
		return items;
	shift = (unsigned)__builtin_ctzll(differ);
	for (; shift < 64 && differ >> shift; shift += bits) {
		struct sort_item *sorted = spare;

		if (!sort_digit(items, spare, nr, shift, bits))
			continue;
		spare = items;
		items = sorted;
	}
	return items;
}

void sort_items(struct sort_item *items, size_t nr, struct sort_item *spare)
{
	const struct sort_item *sorted = nr <= MERGED ? sort_merging(items, nr, spare)
						      : sort_digits(items, nr, spare);

	if (sorted != items)
		memcpy(items, sorted, nr * sizeof(*items));
}
