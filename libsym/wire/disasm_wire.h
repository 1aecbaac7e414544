/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_WIRE_DISASM_WIRE_H
#define LIBSYM_WIRE_DISASM_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "libsym/table/job.h"
#include "libsym/wire/disasm.h"

/*
 * Code as one flat run of bytes, from a helper to the program that asked: header, ranges,
 * instructions, bytes, texts.  Host byte order: both are the same program.
 */
#define SYM_DISASM_MAGIC 0x61644479u

struct sym_disasm_header {
	uint32_t magic, version;
	uint32_t state, nr_codes;
	uint32_t nr_insns, text_len;
	uint64_t bytes_len;
	uint32_t reason; /* offset into the texts */
	uint32_t pad;
};
_Static_assert(sizeof(struct sym_disasm_header) == 40, "disasm header");

struct sym_disasm_code {
	uint64_t off, end, vma;
	uint32_t nr_insns;  /* they follow those of the range before */
	uint32_t has_bytes; /* 1: end - off bytes, behind those of the range before */
};
_Static_assert(sizeof(struct sym_disasm_code) == 32, "disasm range");

struct sym_disasm_insn {
	uint32_t at;   /* bytes behind the range's first one */
	uint32_t len;  /* bytes */
	uint32_t text; /* offset into the texts */
};
_Static_assert(sizeof(struct sym_disasm_insn) == 12, "disasm instruction");

/* Limits of one job: ranges, and bytes of all of them; larger requests are split. */
#define SYM_DISASM_MAX_RANGES (1u << 20)
#define SYM_DISASM_MAX_BYTES (16u << 20)

/**
 * sym_disasm_decode - code from untrusted bytes
 * @data: aligned to 8 bytes; not needed afterwards
 * @out: one reference
 * Control bytes in texts become "?".  Returns 0, -EBADMSG, -ENOMEM.
 */
int sym_disasm_decode(const void *data, size_t len, struct sym_disasm **out,
		      struct err *err);

/*
 * A result without code that gives the reason; control bytes become "?".  0 or -ENOMEM.
 */
int sym_disasm_none(enum sym_state state, const char *reason, struct sym_disasm **out,
		    struct err *err);

#endif
