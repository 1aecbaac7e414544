/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_TABLE_SMART_H
#define LIBSYM_TABLE_SMART_H

#include "base/strbuf.h"

/* Appends @text, a demangled C++ name, with the rules of SYM_DEMANGLE_SMART applied. */
void sym_demangle_smart(const char *text, struct strbuf *out);

#endif
