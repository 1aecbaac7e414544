/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include <errno.h>
#include <stdlib.h>

/*
 * A typed growing array: VEC(int) v = { 0 }; vec_push(&v, 3); v.data[0]; vec_fini(&v).
 * A zeroed one is empty.
 */
#define VEC(type)                                                                        \
	struct {                                                                         \
		type *data;                                                              \
		size_t len, cap;                                                         \
	}

/* Makes room for @n more elements.  0 or -ENOMEM. */
#define vec_reserve(v, n)                                                                \
	vec_reserve_((void **)&(v)->data, &(v)->cap, (v)->len, (n), sizeof(*(v)->data))

/* Appends a value.  0, or -ENOMEM and the array unchanged. */
#define vec_push(v, value)                                                               \
	(vec_reserve((v), 1) ? -ENOMEM : ((v)->data[(v)->len++] = (value), 0))

#define vec_fini(v) (free((v)->data), (v)->data = NULL, (v)->len = (v)->cap = 0)

#define vec_for(v, it)                                                                   \
	for (__typeof__((v)->data + 0) it = (v)->data; it && it < (v)->data + (v)->len;  \
	     it++)

static inline int vec_reserve_(void **data, size_t *cap, size_t len, size_t more,
			       size_t size)
{
	size_t want, bytes;
	void *grown;

	if (__builtin_add_overflow(len, more, &want))
		return -ENOMEM;
	if (*data && want <= *cap)
		return 0;
	if (want < *cap * 2)
		want = *cap * 2;
	if (want < 8)
		want = 8;
	if (__builtin_mul_overflow(want, size, &bytes))
		return -ENOMEM;
	grown = realloc(*data, bytes);
	if (!grown)
		return -ENOMEM;
	*data = grown;
	*cap = want;
	return 0;
}

#endif
