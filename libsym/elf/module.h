/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_ELF_MODULE_H
#define LIBSYM_ELF_MODULE_H

#include <stdbool.h>

#include "base/strbuf.h"

/**
 * sym_module_find - the file of a kernel module
 * @dir: searched with all below it; NULL: /lib/modules/RELEASE of the running kernel
 * @name: as /proc/modules has it; the file may spell "_" as "-", and be packed
 * Appends the path and returns true, or false if there is none.
 */
bool sym_module_find(const char *dir, const char *name, struct strbuf *path);

#endif
