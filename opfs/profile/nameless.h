/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_PROFILE_NAMELESS_H
#define OPFS_PROFILE_NAMELESS_H

#include "opfs/profile/build.h"

/*
 * What code without a symbol is called.  Reports have one row for that of an image; call
 * trees tell it apart by its entries, so that a row may be several functions there.
 */

/* The row that has it.  Once tables are loaded. */
enum profile_row_kind profile_nameless_kind(const struct profile_build *b,
					    uint32_t image);
const char *profile_nameless_row(const struct profile_build *b, uint32_t image);

/* The function that it is in call trees, in the arena.  @entry: NULL if it is in none.
 * NULL if out of memory. */
const char *profile_nameless_func(const struct profile_build *b, uint32_t image,
				  const struct sym_section *entry);

#endif
