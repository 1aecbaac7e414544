/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBCFI_UNDESCRIBED_H
#define LIBCFI_UNDESCRIBED_H

#include "libcfi/elf.h"
#include "libcfi/rows.h"

/**
 * cfi_add_undescribed - adds rules for code that nothing describes, but that is known
 * Where a program begins, what signal handlers return to, and entries of PLTs.  All that
 * is described must have been added before.
 * Returns 0 or -errno.
 */
int cfi_add_undescribed(const struct cfi_elf *elf, struct cfi_rows *rows);

#endif
