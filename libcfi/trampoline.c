/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libcfi/trampoline.h"

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
	uint32_t behind = start;
	int rc = 0;

	cfi_rows_sort(rows);
	for (size_t i = 0; !rc && i < nr; i++) {
		const struct cfi_function f = rows->functions.data[i];

		rc = fill(rows, behind, f.start < end ? f.start : end);
		if (f.end > behind)
			behind = f.end;
	}
	return rc ? rc : fill(rows, behind, end);
}
