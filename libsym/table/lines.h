/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_TABLE_LINES_H
#define LIBSYM_TABLE_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "libsym/table/symtab.h"

/*
 * Source lines of parts of one image, from its DWARF or that of its separate debug file
 * (.debug_line, and with SYM_LINES_INLINES the inlined functions): decoded, immutable,
 * shared by threads.  A row reaches from the first to the last byte of its line that was
 * asked for; for bytes in between that were not asked for it means nothing.
 */
#define SYM_LINE_NONE UINT32_MAX

enum {
	SYM_LINES_INLINES = 1,
	/* With these: inlined functions alone, which takes half the time; there may be
	 * files and lines all the same. */
	SYM_LINES_ONLY_INLINES = 2,
};

struct sym_line {
	uint64_t off, end; /* bytes of the image, offsets as in struct sym */
	uint32_t file;     /* index into files, SYM_LINE_NONE: not known */
	uint32_t line;     /* 0: belongs to no line of the file */
	uint32_t
		/* index into inlines: the innermost; SYM_LINE_NONE: not inlined */
		inlined;
};

struct sym_inline {       /* an inlined function */
	const char *name; /* linkage name if there is one; "" if unknown */
	uint32_t
		/* what it is inlined into: index, SYM_LINE_NONE: a real function */
		parent;
	uint32_t call_file; /* where it is called */
	uint32_t call_line;
};

struct sym_lines {
	/*
	 * SYM_OK, or why there are no lines (SYM_NO_SYMBOLS: no DWARF).  With SYM_BROKEN
	 * there are those that could be read.
	 */
	enum sym_state state;
	const char *reason;     /* one line that names the file; "" if SYM_OK */
	const char *debug_path; /* separate debug file that gave the lines; "" if none */
	const char *alt_path;   /* what dwz moved out of that; "" if none */
	const char *alt_id;     /* its build-id in hexadecimal */
	const char *const
		*files; /* absolute as far as DWARF tells; no "." and ".." in them */
	const struct sym_line *rows; /* by off, disjoint */
	const struct sym_inline *inlines;
	size_t nr_files, nr_rows, nr_inlines;
	size_t bytes;
	int refs; /* private, atomic */
};

/* The row that covers an offset, or NULL: nothing is known of it. */
const struct sym_line *sym_line_find(const struct sym_lines *l, uint64_t off);

struct sym_lines *sym_lines_get(struct sym_lines *l);
void sym_lines_put(struct sym_lines *l); /* NULL is fine */
static inline void sym_lines_putp(struct sym_lines **l)
{
	sym_lines_put(*l);
}

#endif
