/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_SORT_H
#define BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Sorting many small things by number: several times as fast as qsort(). */
struct sort_item {
	uint64_t key;
	uint32_t a, b; /* the caller's: what is moved with the key */
};

/* Sorts by key; those with equal keys stay in their order.  @spare: room for @nr. */
void sort_items(struct sort_item *items, size_t nr, struct sort_item *spare);

#endif
