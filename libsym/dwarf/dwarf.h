/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_DWARF_DWARF_H
#define LIBSYM_DWARF_DWARF_H

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "libsym/elf/elf.h"

/* The DWARF of an ELF file as libdw reads it, with addresses as in libsym/elf/wants.h. */
struct sym_dwarf {
	Dwarf *dw; /* NULL: none that can be read */
	Dwfl *dwfl;
	const struct sym_elf *elf, *image;
	struct arena arena; /* sections that were unpacked here */
	const char *unread; /* a section that is there and cannot be read; NULL: none */
	uint64_t steps;     /* ranges that may still be read */
};

struct sym_dwarf_range {
	uint64_t lo, hi;
};
typedef VEC(struct sym_dwarf_range) sym_dwarf_ranges;

/* True if the file has DWARF that tells lines. */
bool sym_dwarf_present(const struct sym_elf *elf);

/**
 * sym_dwarf_open - lets libdw read the sections of a file
 * @elf: the file with DWARF; its section headers are changed to what libdw is to see
 * @image: the file that was sampled; may be @elf; NULL: does not matter (a dwz file)
 * Both are borrowed until sym_dwarf_fini().  False: out->dw is NULL.
 */
bool sym_dwarf_open(const struct sym_elf *elf, const struct sym_elf *image,
		    struct sym_dwarf *out);
void sym_dwarf_fini(struct sym_dwarf *d);

/**
 * sym_dwarf_code - the code of an entry
 * @out: emptied, then filled
 * Returns 0, also if the entry has none; -EBADMSG if damaged; -ENOMEM.
 */
int sym_dwarf_code(struct sym_dwarf *d, Dwarf_Die *die, sym_dwarf_ranges *out);

/* The linkage name, else the name, of a function's entry or of its origin; "" if none. */
const char *sym_dwarf_function(Dwarf_Die *die);

/* The attribute as a number; false: none. */
bool sym_dwarf_number(Dwarf_Die *die, unsigned name, uint64_t *out);

#endif
