/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_ADDR2LINE_H
#define TESTS_ADDR2LINE_H

#include "libsym/table/lines.h"
#include "libsym/table/symtab.h"

struct agreement {
	size_t asked, known, inlined, differ;
};

/**
 * addr2line_compare - lines against addr2line -a -f -i
 * @l: lines of all code of @table, with inlines
 * @tool: addr2line of binutils, llvm-addr2line
 * @path: the file that addr2line reads
 * @step: every so manieth byte of the symbols is asked
 * Differences are told on stderr, the first few.
 */
struct agreement addr2line_compare(const struct sym_lines *l,
				   const struct sym_table *table, const char *tool,
				   const char *path, unsigned step);

#endif
