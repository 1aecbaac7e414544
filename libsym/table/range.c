/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/table/range.h"

#include <stdlib.h>

static int by_off(const void *pa, const void *pb)
{
	const struct sym_range *a = pa, *b = pb;

	return a->off < b->off ? -1 : a->off > b->off;
}

size_t sym_ranges_join(struct sym_range *r, size_t nr)
{
	bool sorted = true;
	size_t left = 0;

	for (size_t i = 1; i < nr && sorted; i++)
		sorted = r[i - 1].off <= r[i].off;
	if (!sorted)
		qsort(r, nr, sizeof(*r), by_off);
	for (size_t i = 0; i < nr; i++) {
		if (r[i].end <= r[i].off)
			continue;
		if (!left || r[i].off > r[left - 1].end)
			r[left++] = r[i];
		else if (r[i].end > r[left - 1].end)
			r[left - 1].end = r[i].end;
	}
	return left;
}

bool sym_ranges_hold(const struct sym_range *all, size_t nr_all,
		     const struct sym_range *part, size_t nr_part)
{
	size_t at = 0;

	for (size_t i = 0; i < nr_part; i++) {
		while (at < nr_all && all[at].end < part[i].end)
			at++;
		if (at == nr_all || all[at].off > part[i].off)
			return false;
	}
	return true;
}
