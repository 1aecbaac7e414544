/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_OPFS_NAMED_H
#define TESTS_UNIT_OPFS_NAMED_H

#include "libsym/table/symtab.h"

/* NAMED(syms, "one", ...): names the symbols of an array, before main(): a constant
 * cannot say where its name is. */
#define NAMED(syms, ...)                                                                 \
	__attribute__((constructor)) static void name_##syms(void)                       \
	{                                                                                \
		static const char *const names[] = { __VA_ARGS__ };                      \
                                                                                         \
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)            \
			sym_set_name(&(syms)[i], names[i]);                              \
	}                                                                                \
	_Static_assert(sizeof(syms) / sizeof((syms)[0]) ==                               \
			       sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *), \
		       "a name for each")

#endif
