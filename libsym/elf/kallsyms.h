/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_ELF_KALLSYMS_H
#define LIBSYM_ELF_KALLSYMS_H

#include <stddef.h>

#include "libsym/table/job.h"
#include "libsym/wire/build.h"

/*
 * Symbols of the running kernel, one "ADDRESS TYPE NAME[\tMODULE]" a line.  Offsets are
 * counted from _stext (else _text), or from the start of the module in /proc/modules, as
 * the keys of its samples are.
 */

/* Adds the kernel's own code symbols; sets the state and its reason. */
void sym_kallsyms_kernel(const char *kallsyms, struct sym_build *b);
/* Adds those of a module that is loaded now. */
void sym_kallsyms_module(const char *kallsyms, const char *modules, const char *name,
			 struct sym_build *b);

/* True if two names of modules are the same: "-", "_" and "," are. */
bool sym_module_name_equal(const char *a, size_t len_a, const char *b);

#endif
