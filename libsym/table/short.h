/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_TABLE_SHORT_H
#define LIBSYM_TABLE_SHORT_H

#include "base/strbuf.h"

/**
 * sym_short_name - appends the name of a function alone
 * @text: demangled: C++, Rust or D
 * What it returns and takes is left out, and what is in the lists of templates:
 * "std::vector<...>::push_back".  Text that does not read as a name is appended whole.
 */
void sym_short_name(const char *text, struct strbuf *out);

#endif
