/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_DWARF_LINES_READER_H
#define LIBSYM_DWARF_LINES_READER_H

#include "base/map.h"
#include "base/vec.h"
#include "libsym/dwarf/dwarf.h"
#include "libsym/elf/load.h"
#include "libsym/elf/wants.h"
#include "libsym/wire/lines_wire.h"

struct sym_run { /* addresses [lo, hi) of one line */
	uint64_t lo, hi;
	uint32_t file, line;
};

struct sym_scope { /* addresses [lo, hi) of an inlined function */
	uint64_t lo, hi;
	uint32_t depth; /* inlined functions around it */
	uint32_t inlined;
};

/* Lines being read from one image: between libsym/dwarf/lines.c and what helps
 * it. */
struct sym_lines_reader {
	struct sym_load *load;
	const struct sym_elf *image;
	struct sym_dwarf dw, alt;
	struct sym_elf alt_elf;
	int alt_fd;
	struct sym_wants wants;
	bool with_lines, with_inlines;
	struct sym_lines_build b;
	struct map texts;         /* of files and names -> offset in b.names */
	struct map files;         /* path -> index in b.files */
	struct map_u64 functions; /* entry -> offset in b.names */
	VEC(struct sym_run) runs;
	VEC(struct sym_scope) scopes;
	sym_dwarf_ranges code;   /* of the image */
	sym_dwarf_ranges ranges; /* scratch */

	/* the unit that is being read */
	Dwarf_Files *unit_files;
	const char *comp_dir; /* "" if unknown */
	VEC(uint32_t)
	file_map;      /* file number -> index + 1 in b.files; 0: not known yet */
	size_t at;     /* in wants */
	uint64_t last; /* address of the last row */

	struct err alt_err; /* why there is no file of dwz */
	size_t nr_units, nr_damaged;
	uint64_t first_damaged; /* offset in .debug_info */
	bool mixed;             /* lines of code that the linker left out hide others */
};

/* Index in b.files of a file of the unit; SYM_LINE_NONE if unknown.  0 or -ENOMEM. */
int sym_lines_file(struct sym_lines_reader *r, uint64_t file, uint32_t *out);
/* Offset in b.names of a text.  0 or -ENOMEM. */
int sym_lines_text(struct sym_lines_reader *r, const char *text, uint32_t *out);

/* True if any byte of the code in r->ranges is asked for. */
bool sym_lines_wanted(const struct sym_lines_reader *r);

#endif
