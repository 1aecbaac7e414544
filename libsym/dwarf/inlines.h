/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_DWARF_INLINES_H
#define LIBSYM_DWARF_INLINES_H

#include "base/vec.h"
#include "libsym/dwarf/lines_reader.h"

/* Which inlined function code belongs to. */

/**
 * sym_inlines_read - reads the inlined functions of a unit whose code was asked for
 * Adds them to r->b.inlines and their ranges to r->scopes.  Numbers of files are those
 * of r->unit_files.  0, -EBADMSG if damaged, -ENOMEM.
 */
int sym_inlines_read(struct sym_lines_reader *r, Dwarf_Die *cu);

/* Replaces the overlapping r->scopes by disjoint ones, the innermost.  0 or -ENOMEM. */
int sym_inlines_flatten(struct sym_lines_reader *r);

#endif
