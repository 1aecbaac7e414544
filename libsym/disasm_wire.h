/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_DISASM_WIRE_H
#define LIBSYM_DISASM_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "libsym/disasm.h"
#include "libsym/job.h"

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

/* Most ranges, and bytes of all of them, in one job: what asks for more is split. */
#define SYM_DISASM_MAX_RANGES (1u << 20)
#define SYM_DISASM_MAX_BYTES (16u << 20)

/**
 * sym_disasm_encode - opens an image and takes parts of it to pieces
 * @ranges: offsets as in struct sym; any order
 * @options: as objdump's -M; "" for none; NULL: bytes only
 * @out: appended to, in the form above
 * Meant for a helper: reads a file that somebody else made.  What the image lets it not
 * do is told by the answer's state.  Returns 0; -EINVAL with the allowed options for
 * those that the machine's disassembler does not have; -EFBIG; -ENOMEM.
 */
int sym_disasm_encode(const struct sym_job *job, const struct sym_range *ranges,
		      size_t nr, const char *options, struct strbuf *out,
		      struct err *err);
/* @fd: an image that is open already (stays open); job->path is its name in messages. */
int sym_disasm_encode_fd(int fd, const struct sym_job *job,
			 const struct sym_range *ranges, size_t nr, const char *options,
			 struct strbuf *out, struct err *err);

/**
 * sym_disasm_decode - code from bytes that nobody vouches for
 * @data: aligned to 8 bytes; not needed afterwards
 * @out: one reference
 * Control bytes in texts become "?".  Returns 0, -EBADMSG, -ENOMEM.
 */
int sym_disasm_decode(const void *data, size_t len, struct sym_disasm **out,
		      struct err *err);

/* A result without code that says why; control bytes become "?".  0 or -ENOMEM. */
int sym_disasm_none(enum sym_state state, const char *reason, struct sym_disasm **out,
		    struct err *err);

#endif
