/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_DWARF_ALTFILE_H
#define LIBSYM_DWARF_ALTFILE_H

#include <stdbool.h>

#include "libsym/elf/load.h"

/**
 * sym_altfile_open - the file into which dwz moved what several debug files share
 * @elf: the image of @l or its debug file: its .gnu_debugaltlink names the file and tells
 *	its build-id
 * @path, @hex: get where it was found and its build-id
 * Looked for where the link says, and by build-id below the directory of debug files.
 * Returns 1 if found: the caller closes @fd after sym_elf_fini(@out).  0 if there is no
 * link; -ENOENT with a message if no file is as the link says.
 */
int sym_altfile_open(const struct sym_load *l, const struct sym_elf *elf, int *fd,
		     struct sym_elf *out, struct strbuf *path, struct strbuf *hex,
		     struct err *err);

#endif
