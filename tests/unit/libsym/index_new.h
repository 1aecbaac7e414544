/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_LIBSYM_INDEX_NEW_H
#define TESTS_UNIT_LIBSYM_INDEX_NEW_H

#include <criterion/criterion.h>
#include <stdlib.h>

#include "libsym/table/index.h"

/* An index in a block of its own, which is just as large as was promised to be enough. */
static inline struct sym_index *index_new(const struct sym *syms, size_t nr)
{
	size_t room = sym_index_room(nr), len;
	struct sym_index *x = malloc(room);

	cr_assert_not_null(x);
	len = sym_index_make(syms, nr, x);
	cr_assert_gt(len, 0);
	cr_assert_leq(len, room);
	cr_assert(sym_index_fits(x, len));
	return x;
}

#endif
