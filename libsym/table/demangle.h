/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_TABLE_DEMANGLE_H
#define LIBSYM_TABLE_DEMANGLE_H

#include "base/strbuf.h"

enum sym_demangle_style {
	SYM_DEMANGLE_NONE,   /* names as they are */
	SYM_DEMANGLE_NORMAL, /* as c++filt */
	SYM_DEMANGLE_SMART,  /* and the usual C++ library types shortened */
	SYM_DEMANGLE_SHORT,  /* as c++filt, then names alone: sym_short_name() */
	SYM_DEMANGLE_SMART_SHORT,
};

/**
 * sym_demangle - appends the spelling of a symbol's name
 * C++ (Itanium), Rust (both manglings) and D; "@plt" and "@VERSION" behind the name
 * stay.  A name that is not mangled is appended as it is.
 * To be called in a helper process: libiberty has been broken by hostile names before.
 */
void sym_demangle(const char *name, enum sym_demangle_style style, struct strbuf *out);

#endif
