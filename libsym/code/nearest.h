/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_CODE_NEAREST_H
#define LIBSYM_CODE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "libsym/elf/load.h"
#include "libsym/elf/slots.h"

/*
 * The name of an address in a disassembly: the nearest symbol of any kind, data
 * included, chosen among those at one address as objdump does.
 */
enum {
	SYM_NEAR_FUNCTION = 1,
	SYM_NEAR_OBJECT = 2,
	SYM_NEAR_LOCAL = 4,
	SYM_NEAR_GLOBAL = 8,
	SYM_NEAR_SECTION = 16,
	SYM_NEAR_SYNTHETIC = 32, /* "name@plt" */
};

struct sym_near {
	uint64_t value, size;
	const char *name;
	const char *version; /* "@VERSION", "@@VERSION" or "" */
	uint32_t section;    /* of the image; 0: none of it */
	uint32_t flags;
};

struct sym_nearest {
	VEC(struct sym_near) syms; /* sorted once made */
	struct sym_slots slots;    /* an entry of a PLT is named after its slot */
	struct arena arena;
	bool relocatable; /* addresses count from their section */
	bool failed;      /* out of memory */
};

void sym_nearest_fini(struct sym_nearest *n);

/* Fills @n from the best table of the image, whose names it borrows.  0 or -ENOMEM. */
int sym_nearest_make(struct sym_nearest *n, struct sym_load *l);

/* Appends "401136 <main+0x4>".  @section, @lo, @hi: where the code that refers is. */
void sym_nearest_print(const struct sym_nearest *n, uint64_t vma, size_t section,
		       uint64_t lo, uint64_t hi, struct strbuf *out);

/**
 * sym_nearest_block - the run of code between two symbols of a section
 * @end: in: end of the section; out: lowered to the next symbol's address
 * Returns the symbol that the run belongs to, or NULL.
 */
const struct sym_near *sym_nearest_block(const struct sym_nearest *n, uint64_t vma,
					 size_t section, uint64_t *end);

#endif
