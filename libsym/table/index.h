/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_TABLE_INDEX_H
#define LIBSYM_TABLE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libsym/table/symtab.h"

/*
 * Finds the symbol at an offset with one or two cache misses: nested and overlapping
 * symbols are cut into distinct ranges once, and buckets of equal width tell where to
 * begin in the sorted ranges.
 */
struct sym_index;

#define SYM_INDEX_NONE UINT32_MAX

/* So many bytes are enough for an index of @nr symbols. */
size_t sym_index_room(size_t nr);
/* @syms: by off, distinct offs, fewer than 2^30; @x: aligned to 8 bytes.  One block
 * without pointers, which may be copied; returns its bytes, 0 if out of memory. */
size_t sym_index_make(const struct sym *syms, size_t nr, struct sym_index *x);
/* The number of the symbol that covers @off, or SYM_INDEX_NONE.  @x may be NULL. */
uint32_t sym_index_find(const struct sym_index *x, uint64_t off);
/* Are these bytes, of which there are @len, as long as an index says that it is? */
bool sym_index_fits(const struct sym_index *x, size_t len);

#endif
