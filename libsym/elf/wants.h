/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_ELF_WANTS_H
#define LIBSYM_ELF_WANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libsym/elf/elf.h"
#include "libsym/table/symtab.h"

/* The bytes of an image that were asked for, by the addresses that DWARF gives them. */
struct sym_want {
	uint64_t vma, end; /* addresses */
	uint64_t off;      /* of vma */
};

struct sym_wants {
	struct sym_want *list; /* by vma, disjoint, adjacent ones joined */
	size_t nr;
};

/**
 * sym_wants_make - addresses of offsets
 * @ranges: any order, any number
 * In a relocatable file, whose sections have no address yet, the offset is the address.
 * What is not in the image is left out.  0 or -ENOMEM.
 */
int sym_wants_make(const struct sym_elf *image, const struct sym_range *ranges, size_t nr,
		   struct sym_wants *out);
void sym_wants_fini(struct sym_wants *w);

/* The first one, from number @from on, that ends behind @vma; w->nr: none. */
size_t sym_wants_from(const struct sym_wants *w, size_t from, uint64_t vma);

/* True if any byte of [lo, hi) is asked for. */
bool sym_wants_any(const struct sym_wants *w, uint64_t lo, uint64_t hi);

#endif
