/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_DWARF_LINES_ROWS_H
#define LIBSYM_DWARF_LINES_ROWS_H

#include "libsym/dwarf/lines_reader.h"

/* Turns the rows of DWARF's line tables into those of the answer. */

/* Keeps [lo, hi) in r->runs if bytes of it are asked for.  0, -EBADMSG, -ENOMEM. */
int sym_lines_take_row(struct sym_lines_reader *r, uint64_t lo, uint64_t hi,
		       Dwarf_Line *line);

/* Makes r->b.rows of r->runs and r->scopes.  0 or -ENOMEM. */
int sym_lines_make_rows(struct sym_lines_reader *r);

#endif
