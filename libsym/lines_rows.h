/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_LINES_ROWS_H
#define LIBSYM_LINES_ROWS_H

#include "libsym/lines_reader.h"

/* From the rows of DWARF's tables to those that are answered. */

/* Keeps [lo, hi) in r->runs if bytes of it are asked for.  0, -EBADMSG, -ENOMEM. */
int sym_lines_take_row(struct sym_lines_reader *r, uint64_t lo, uint64_t hi,
		       Dwarf_Line *line);

/* Makes r->b.rows of r->runs and r->scopes.  0 or -ENOMEM. */
int sym_lines_make_rows(struct sym_lines_reader *r);

#endif
