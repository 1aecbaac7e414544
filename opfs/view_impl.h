/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_VIEW_IMPL_H
#define OPFS_VIEW_IMPL_H

#include "opfs/view.h"

/* Shared by opfs/view*.c. */

/* Sorts v->rows as v->options say, all keys of which are set.  0 or -ENOMEM. */
int view_sort_rows(struct view *v);

static inline int view_compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static inline void view_add_samples(uint64_t *to, const uint64_t *from, size_t nr_classes)
{
	for (size_t c = 0; c < nr_classes; c++)
		to[c] += from[c];
}

static inline bool view_excluded(const struct view_options *o, uint32_t app,
				 uint32_t image)
{
	return o->exclude_dependent && app != image;
}

#endif
