/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_WIRE_WIRE_H
#define LIBSYM_WIRE_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "libsym/table/symtab.h"
#include "libsym/wire/build.h"

/*
 * A table as one flat run of bytes, from a helper to the program that asked: header,
 * symbols, sections, entries, names.  Host byte order: both are the same program.
 */
#define SYM_WIRE_MAGIC 0x4d595362u
#define SYM_WIRE_VERSION 1u
#define SYM_WIRE_MAX (256u << 20) /* bytes of a whole table */
#define SYM_WIRE_ID 32            /* bytes of a build-id; a longer one is unknown */

struct sym_wire_header {
	uint32_t magic, version;
	uint32_t state, source;
	uint32_t nr_syms, nr_sections, names_len;
	uint32_t reason, path, debug_path; /* offsets into the names */
	uint64_t text_off, dev, ino, file_size;
	int64_t mtime;
	uint8_t id_len, id[SYM_WIRE_ID], pad[3];
	uint32_t nr_entries; /* 0 in tables that were kept before there were any */
};
_Static_assert(sizeof(struct sym_wire_header) == 120, "wire header");

struct sym_wire_sym {
	uint64_t off, size, vma;
	uint32_t name, flags;
};
_Static_assert(sizeof(struct sym_wire_sym) == 32, "wire symbol");

/* A byte of a helper's text: control bytes become "?", NUL stays. */
static inline char sym_wire_plain(char c)
{
	unsigned char u = (unsigned char)c;

	return (u && u < ' ') || u == 0x7f ? '?' : c;
}

/* Appends @b, on which sym_build_finish() was called.  0, -ENOMEM, -EFBIG. */
int sym_wire_encode(const struct sym_build *b, struct strbuf *out);

/**
 * sym_wire_decode - a table from untrusted bytes
 * @data: aligned to 8 bytes; not needed afterwards
 * @out: one reference
 * Everything is checked: lengths, order, overflows, names.  Control bytes in texts
 * become "?", so that a name cannot forge a line of a report.  Returns 0, -EBADMSG,
 * -ENOMEM.
 */
int sym_wire_decode(const void *data, size_t len, struct sym_table **out,
		    struct err *err);

#endif
