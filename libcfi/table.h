/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBCFI_TABLE_H
#define LIBCFI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "libcfi/rule.h"

/*
 * A compiled table: for each range of code the rule by which its caller is found.  It is
 * what a process in a sandbox answers, so it is checked whole before it is used, and no
 * use of a checked one reads outside of it, whatever it says.
 */
struct cfi_table {
	const void *bytes; /* the caller's, who keeps them as long as the table is used */
	size_t size;
	/* within them */
	enum cfi_machine machine;
	size_t nr; /* keys */
	const uint32_t *keys;
	uint32_t shift;
	size_t nr_pages;
	const uint32_t *index; /* nr_pages + 1, if there are keys */
	const uint16_t *numbers;
	const struct cfi_rule *rules;
};

/* Checks a table: 0, or -EINVAL.  @bytes are aligned as malloc() aligns. */
int cfi_table_init(struct cfi_table *t, const void *bytes, size_t size, struct err *err);

/* The rule of the code at a key; one of kind CFI_NONE if there is none. */
const struct cfi_rule *cfi_table_find(const struct cfi_table *t, uint64_t key);

/* Whether the table has any rules at all. */
bool cfi_table_empty(const struct cfi_table *t);

#endif
