/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_ELF_SLOTS_H
#define LIBSYM_ELF_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "libsym/elf/elf.h"

/* Places in memory that the dynamic linker fills with the address of a symbol. */
struct sym_slot {
	uint64_t addr;    /* of the place */
	uint64_t value;   /* of the symbol, as far as the file knows it */
	const char *name; /* its name */
	const char *version;
	uint32_t order; /* in the file */
	bool undefined; /* the symbol is in another file */
};

struct sym_slots {
	VEC(struct sym_slot) list; /* by addr, then order */
};

/* Reads the dynamic relocations; names live in @e and @arena.  0 or -ENOMEM. */
int sym_slots_read(struct sym_slots *s, const struct sym_elf *e, struct arena *arena);

/* What fills the place at @addr, or NULL. */
const struct sym_slot *sym_slots_find(const struct sym_slots *s, uint64_t addr);

#endif
