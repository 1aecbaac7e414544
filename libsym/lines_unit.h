/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_LINES_UNIT_H
#define LIBSYM_LINES_UNIT_H

#include "libsym/lines_reader.h"

/**
 * sym_lines_unit - reads one unit of r->dw
 * @type: DW_UT_; @cu: its first entry
 * Adds to r->runs and r->scopes if any of its code is asked for.  0, -EBADMSG if damaged
 * (what could be read was added), -ENOMEM.
 */
int sym_lines_unit(struct sym_lines_reader *r, unsigned type, Dwarf_Die *cu);

#endif
