/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_WIRE_DISASM_H
#define LIBSYM_WIRE_DISASM_H

#include <stddef.h>
#include <stdint.h>

#include "libsym/table/symtab.h"

/* Machine code of parts of one image, and its instructions by libopcodes. */
struct sym_insn {
	uint64_t off; /* as in struct sym */
	uint64_t vma;
	uint32_t len; /* bytes */
	const char
		*text; /* as objdump -d --no-show-raw-insn prints it behind the address */
};

struct sym_code { /* one of the ranges asked for */
	struct sym_range range;
	uint64_t vma;
	const uint8_t *bytes; /* range.end - range.off of them; NULL: not in the file */
	const struct sym_insn *insns; /* by off; none if only bytes were asked for */
	size_t nr_insns;
};

struct sym_disasm {
	enum sym_state state;         /* SYM_OK, or why there is nothing */
	const char *reason;           /* "" if SYM_OK */
	const struct sym_code *codes; /* as they were asked for */
	size_t nr_codes;
	size_t bytes; /* in memory */
	int refs;     /* private, atomic */
};

struct sym_disasm *sym_disasm_get(struct sym_disasm *d);
void sym_disasm_put(struct sym_disasm *d); /* NULL is fine */
static inline void sym_disasm_putp(struct sym_disasm **d)
{
	sym_disasm_put(*d);
}

#endif
