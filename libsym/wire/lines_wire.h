/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_WIRE_LINES_WIRE_H
#define LIBSYM_WIRE_LINES_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "libsym/table/lines.h"

/*
 * Lines as one flat run of bytes, from a helper to the program that asked: header, rows
 * (struct sym_line), inlined functions, files, texts.  Host byte order.
 */
#define SYM_LINES_MAGIC 0x4e494c62u
#define SYM_LINES_VERSION 2u

struct sym_lines_header {
	uint32_t magic, version;
	uint32_t state, nr_files, nr_inlines, names_len;
	uint32_t reason, debug_path, alt_path, alt_id; /* offsets into the texts */
	uint64_t nr_rows;
};
_Static_assert(sizeof(struct sym_lines_header) == 48, "lines header");
_Static_assert(sizeof(struct sym_line) == 32, "lines row");

struct sym_wire_inline {
	uint32_t name; /* offset into the texts */
	uint32_t parent, call_file, call_line;
};

/* Lines in the making. */
struct sym_lines_build {
	enum sym_state state;
	struct strbuf reason, debug_path, alt_path, alt_id;
	struct strbuf names; /* texts of files and inlines, each with its NUL */
	VEC(uint32_t) files; /* offsets into names */
	VEC(struct sym_wire_inline) inlines; /* parents before children */
	VEC(struct sym_line) rows;           /* by off, disjoint */
};

void sym_lines_build_fini(struct sym_lines_build *b);

/* Appends @b.  0, -ENOMEM, -EFBIG. */
int sym_lines_pack(const struct sym_lines_build *b, struct strbuf *out);

/**
 * sym_lines_decode - lines from untrusted bytes
 * @data: aligned to 8 bytes; not needed afterwards
 * @flags: without SYM_LINES_INLINES rows do not tell inlined functions
 * @out: one reference
 * Control bytes in texts become "?".  Returns 0, -EBADMSG, -ENOMEM.
 */
int sym_lines_decode(const void *data, size_t len, unsigned flags, struct sym_lines **out,
		     struct err *err);

/* A result without lines that gives the reason.  0 or -ENOMEM. */
int sym_lines_none(enum sym_state state, const char *reason, struct sym_lines **out,
		   struct err *err);

#endif
