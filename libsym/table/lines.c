/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/table/lines.h"

#include <stdlib.h>

const struct sym_line *sym_line_find(const struct sym_lines *l, uint64_t off)
{
	size_t lo = 0, hi = l->nr_rows;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (l->rows[mid].end <= off)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < l->nr_rows && l->rows[lo].off <= off ? &l->rows[lo] : NULL;
}

struct sym_lines *sym_lines_get(struct sym_lines *l)
{
	__atomic_add_fetch(&l->refs, 1, __ATOMIC_RELAXED);
	return l;
}

void sym_lines_put(struct sym_lines *l)
{
	if (l && !__atomic_sub_fetch(&l->refs, 1, __ATOMIC_ACQ_REL))
		free(l); /* one block: see sym_lines_decode() */
}
