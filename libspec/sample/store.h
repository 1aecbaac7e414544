/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSPEC_SAMPLE_STORE_H
#define LIBSPEC_SAMPLE_STORE_H

#include <stddef.h>

/*
 * For libspec's own use: stores into a mapped file that is in place.  A kill keeps the
 * program's order, which an atomic store makes the compiler keep.
 */
#ifdef SPEC_STORE_LOG
/*
 * Only in tests, which compile a writer with this macro: called after every store.
 * @base is the mapping, @off and @len what was stored.
 */
typedef void (*spec_store_log)(void *ctx, const void *base, size_t off, size_t len);
extern spec_store_log spec_store_hook;
extern void *spec_store_ctx;

#define SPEC_STORE(start, place, value)                                                  \
	do {                                                                             \
		__atomic_store_n((place), (value), __ATOMIC_RELEASE);                    \
		if (spec_store_hook)                                                     \
			spec_store_hook(spec_store_ctx, (start),                         \
					(size_t)((char *)(place) - (char *)(start)),     \
					sizeof(*(place)));                               \
	} while (0)
#else
#define SPEC_STORE(start, place, value)                                                  \
	((void)(start), __atomic_store_n((place), (value), __ATOMIC_RELEASE))
#endif

#endif
