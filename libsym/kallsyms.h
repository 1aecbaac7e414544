/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_KALLSYMS_H
#define LIBSYM_KALLSYMS_H

#include <stddef.h>

#include "libsym/build.h"
#include "libsym/job.h"

/*
 * Symbols of the running kernel, "ADDRESS TYPE NAME[\tMODULE]" a line.  Offsets count
 * from _stext (else _text), or from where /proc/modules says that the module starts, as
 * the keys of its samples do.
 */

/* Adds the kernel's own code symbols; state and reason say how it went. */
void sym_kallsyms_kernel(const char *kallsyms, struct sym_build *b);
/* Adds those of a module that is loaded now. */
void sym_kallsyms_module(const char *kallsyms, const char *modules, const char *name,
			 struct sym_build *b);

/* True if two names of modules are the same: "-", "_" and "," are. */
bool sym_module_name_equal(const char *a, size_t len_a, const char *b);

/* Build-id in the bytes of ELF notes, as /sys/kernel/notes has them; len 0: none. */
void sym_notes_build_id(const void *notes, size_t len, struct sym_id *out);

#endif
