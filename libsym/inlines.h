/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_INLINES_H
#define LIBSYM_INLINES_H

#include "base/vec.h"
#include "libsym/lines_reader.h"

/* Which inlined function code belongs to. */

/**
 * sym_inlines_read - the inlined functions of a unit that hold bytes asked for
 * Adds them to r->b.inlines and where they are to r->scopes.  Files are those of
 * r->unit_files.  0, -EBADMSG if damaged, -ENOMEM.
 */
int sym_inlines_read(struct sym_lines_reader *r, Dwarf_Die *cu);

/* Replaces r->scopes, which overlap, by disjoint ones: the innermost.  0 or -ENOMEM. */
int sym_inlines_flatten(struct sym_lines_reader *r);

#endif
