/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_CODE_OPCODES_H
#define LIBSYM_CODE_OPCODES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "libsym/code/nearest.h"
#include "libsym/wire/disasm_wire.h"

/* Instructions by libopcodes, with the text that objdump -d prints. */
struct sym_opcodes;

struct sym_insns { /* what one job made */
	VEC(struct sym_disasm_insn) list;
	struct strbuf texts; /* NUL-terminated, one behind the other */
};

struct sym_piece {            /* of one section */
	const uint8_t *bytes; /* from @vma on */
	size_t avail;         /* readable; may go on behind the piece */
	size_t size;          /* of the piece */
	uint64_t vma;
	size_t section;  /* of the image; 0: it has no headers */
	uint64_t lo, hi; /* the section's addresses */
};

/**
 * sym_opcodes_new - the disassembler for an image's machine
 * @names: names of addresses; borrowed, like @options
 * Returns 0; -ENOTSUP: libopcodes does not support this machine; -EINVAL, with a list of
 * those it has: it does not have one of these options; -ENOMEM.
 */
int sym_opcodes_new(const struct sym_elf *image, const struct sym_nearest *names,
		    const char *options, struct sym_opcodes **out, struct err *err);
void sym_opcodes_free(struct sym_opcodes *o); /* NULL is fine */

/* Appends the instructions of a piece.  0, -ENOMEM, -EFBIG. */
int sym_opcodes_run(struct sym_opcodes *o, const struct sym_piece *piece,
		    struct sym_insns *out);

#endif
