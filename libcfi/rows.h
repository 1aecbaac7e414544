/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBCFI_ROWS_H
#define LIBCFI_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "base/vec.h"
#include "libcfi/rule.h"

/* A table while it is made, function by function in any order. */

struct cfi_row {
	uint32_t key;
	uint16_t rule;
};

struct cfi_function {
	uint32_t start, end; /* keys; @end is behind the last one */
	uint32_t first, nr;  /* rows */
};

struct cfi_rows {
	VEC(struct cfi_row) rows;
	VEC(struct cfi_function) functions;
	VEC(struct cfi_rule) rules;
	uint16_t *slots; /* a hash table of rules: number + 1; 0: none */
};

/* 0 or -ENOMEM. */
int cfi_rows_init(struct cfi_rows *r);
void cfi_rows_fini(struct cfi_rows *r);

/* Begins a function.  Only one is being made at a time.  0 or -ENOMEM. */
int cfi_rows_begin(struct cfi_rows *r, uint32_t start, uint32_t end);
/* From @key on, no lower than the last one, the rule holds; a damaged one in its stead if
 * there are too many.  0, -ENOMEM, or -E2BIG: too many rows. */
int cfi_rows_add(struct cfi_rows *r, uint32_t key, const struct cfi_rule *rule);

/* Orders functions by where they begin; none is being made. */
void cfi_rows_sort(struct cfi_rows *r);

/**
 * cfi_rows_write - adds the table (libcfi/rule.h) to @out
 * Where functions overlap the one that begins first has it, or, of two that begin alike,
 * the one that came first.
 * Returns 0, -ENOMEM or -E2BIG.
 */
int cfi_rows_write(struct cfi_rows *r, enum cfi_machine machine, struct strbuf *out);

#endif
