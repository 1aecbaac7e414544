/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_PARALLEL_H
#define BASE_PARALLEL_H

#include <stddef.h>

/**
 * parallel_each - calls @work(@ctx, i) for each i below @nr, a few at a time
 * @doing, @things: as "reading symbols", "images", for who waits (base/progress.h)
 * For work that waits for helper processes.  The calling thread takes part, so it cannot
 * fail; returns when all is done.
 */
void parallel_each(const char *doing, const char *things, size_t nr,
		   void (*work)(void *ctx, size_t i), void *ctx);

#endif
