/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBCFI_POINTER_H
#define LIBCFI_POINTER_H

#include <stdbool.h>
#include <stdint.h>

#include "libcfi/elf.h"
#include "libcfi/reader.h"

/* How .eh_frame writes pointers.  Source: Linux Standard Base, "DWARF Extensions". */

/* There is no pointer. */
enum { CFI_POINTER_OMIT = 0xff };

/**
 * cfi_pointer - the next pointer of a section
 * @how: its encoding; 0 is a plain address
 * @in: the section, from which the address of the pointer itself is known; NULL: it is
 * not needed
 * False: there is none, or it is written in a way that no linker uses here.
 */
bool cfi_pointer(struct cfi_reader *r, uint8_t how, const struct cfi_section *in,
		 uint64_t *out);

#endif
