/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_ELF_MINIDEBUG_H
#define LIBSYM_ELF_MINIDEBUG_H

#include "libsym/elf/elf.h"

/**
 * sym_minidebug_open - the ELF file packed into section .gnu_debugdata
 * Fedora and related distributions put local function symbols of stripped programs
 * there. Returns 0; -ENOENT if @image has none or it is damaged; -ENOMEM.
 */
int sym_minidebug_open(const struct sym_elf *image, struct sym_elf *out);

#endif
