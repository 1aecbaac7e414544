/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBCFI_PROGRAM_H
#define LIBCFI_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "libcfi/elf.h"
#include "libcfi/reader.h"
#include "libcfi/rows.h"

/* What describes a function: instructions that make rules.  DWARF 5, section 6.4.2. */

/* What functions have in common. */
struct cfi_common {
	enum cfi_machine machine;
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra;      /* the column of the return address */
	bool signal;      /* of code that a signal handler returns to */
	uint8_t pointers; /* how addresses are written; see cfi_pointer() */
	const struct cfi_section *section; /* which all this is in */
	struct cfi_reader initial;         /* instructions before each function's */
};

/* Where a function is. */
struct cfi_place {
	uint64_t vma, size;
	uint32_t key; /* of its first byte */
};

/**
 * cfi_program_run - adds a function's rows
 * @code: its instructions
 * Instructions that make no sense make damaged rules, from there on.
 * Returns 0, -ENOMEM or -E2BIG.
 */
int cfi_program_run(struct cfi_rows *rows, const struct cfi_common *common,
		    const struct cfi_place *place, struct cfi_reader code);

#endif
