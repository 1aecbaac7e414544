/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_TABLE_RANGE_H
#define LIBSYM_TABLE_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sym_range { /* bytes of an image [off, end), offsets as in struct sym */
	uint64_t off, end;
};

/* Sorts ranges by offset, joins those that touch, and drops empty ones, in place.
 * Returns how many are left. */
size_t sym_ranges_join(struct sym_range *r, size_t nr);

/* Is each byte of @part in @all?  Both are as sym_ranges_join() leaves them. */
bool sym_ranges_hold(const struct sym_range *all, size_t nr_all,
		     const struct sym_range *part, size_t nr_part);

#endif
