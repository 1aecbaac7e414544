/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_ELF_VERSIONS_H
#define LIBSYM_ELF_VERSIONS_H

#include <stddef.h>

#include "base/arena.h"
#include "libsym/elf/elf.h"

/* Versions of dynamic symbols, as objdump writes them: "@GLIBC_2.2.5", "@@Base". */
struct sym_versions {
	Elf_Data *of_syms;  /* .gnu.version; NULL: none */
	const char **names; /* by version number: "@@NAME", NULL: unknown */
	bool *needed;       /* from another file */
	size_t nr;
};

/* 0 or -ENOMEM.  Everything lives in @arena and in @e. */
int sym_versions_read(struct sym_versions *v, const struct sym_elf *e,
		      struct arena *arena);
/* What to put behind the name of dynamic symbol number @at; "" for nothing. */
const char *sym_versions_of(const struct sym_versions *v, size_t at);

#endif
