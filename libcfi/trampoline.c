/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libcfi/trampoline.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"

/* Before "sub" and behind "add", and between them, where CFA is. */
enum { OUTER = 8, INNER = 16 };
/* Bytes from behind "sub", and from behind "add", to the end. */
enum { BEHIND_SUB = 7, BEHIND_ADD = 1 };

static int add(struct cfi_rows *rows, uint32_t key, int32_t cfa)
{
	const struct cfi_rule rule = { .kind = CFI_PLAIN,
				       .base = CFI_BY_SP,
				       .off = cfa,
				       .saved = { [CFI_RA] = { CFI_SAVED, CFI_BY_CFA,
							       -8 } } };

	return cfi_rows_add(rows, key, &rule);
}

int cfi_add_trampoline(struct cfi_rows *rows, uint32_t key, uint64_t size)
{
	uint32_t end;
	int rc;

	if ((size != CFI_TRAMPOLINE_BYTES && size != CFI_TRAMPOLINE_ENDBR_BYTES) ||
	    __builtin_add_overflow(key, (uint32_t)size, &end))
		return 0;
	rc = cfi_rows_begin(rows, key, end);
	if (!rc)
		rc = add(rows, key, OUTER);
	if (!rc)
		rc = add(rows, end - BEHIND_SUB, INNER);
	return rc ? rc : add(rows, end - BEHIND_ADD, OUTER);
}

static int compare(const void *pa, const void *pb)
{
	const struct cfi_function *a = pa, *b = pb;

	return a->start < b->start ? -1 : a->start > b->start;
}

static int fill(struct cfi_rows *rows, uint32_t start, uint32_t end)
{
	int rc;

	if (start >= end)
		return 0;
	rc = cfi_rows_begin(rows, start, end);
	return rc ? rc : add(rows, start, INNER);
}

int cfi_fill_with_trampolines(struct cfi_rows *rows, uint32_t start, uint32_t end)
{
	size_t nr = rows->functions.len;
	CLEANUP(free_ptr) struct cfi_function *known = calloc(nr + 1, sizeof(*known));
	uint32_t behind = start;
	int rc = known ? 0 : -ENOMEM;

	for (size_t i = 0; known && i < nr; i++)
		known[i] = rows->functions.data[i];
	if (known)
		qsort(known, nr, sizeof(*known), compare);
	for (size_t i = 0; !rc && i < nr; i++) {
		rc = fill(rows, behind, known[i].start < end ? known[i].start : end);
		if (known[i].end > behind)
			behind = known[i].end;
	}
	return rc ? rc : fill(rows, behind, end);
}
