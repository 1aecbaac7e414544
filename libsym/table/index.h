/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_TABLE_INDEX_H
#define LIBSYM_TABLE_INDEX_H

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

/* @syms: by off, distinct offs, fewer than 2^30.  NULL if out of memory. */
struct sym_index *sym_index_new(const struct sym *syms, size_t nr);
void sym_index_free(struct sym_index *x);
/* The number of the symbol that covers @off, or SYM_INDEX_NONE.  @x may be NULL. */
uint32_t sym_index_find(const struct sym_index *x, uint64_t off);
size_t sym_index_bytes(const struct sym_index *x);

#endif
