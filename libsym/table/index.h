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

/* @syms: by off, distinct offs, fewer than 2^30.  One block without pointers, which
 * free() frees and which may be copied; NULL if out of memory. */
struct sym_index *sym_index_new(const struct sym *syms, size_t nr);
/* The number of the symbol that covers @off, or SYM_INDEX_NONE.  @x may be NULL. */
uint32_t sym_index_find(const struct sym_index *x, uint64_t off);
size_t sym_index_bytes(const struct sym_index *x);
/* Are these bytes, of which there are @len, as long as an index says that it is? */
bool sym_index_fits(const struct sym_index *x, size_t len);

#endif
