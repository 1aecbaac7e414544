/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_DWARF_ENTRIES_H
#define LIBSYM_DWARF_ENTRIES_H

#include "libsym/elf/elf.h"
#include "libsym/wire/build.h"

/*
 * Adds the entries of code that a program or library has in .eh_frame, which is there for
 * exceptions and stays when symbols are stripped: it tells where functions begin and end.
 * What makes no sense is passed over.
 */
void sym_entries_add(const struct sym_elf *e, struct sym_build *b);

#endif
