/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_LEB_H
#define LIBSYM_LEB_H

#include <stdint.h>

#include "base/cursor.h"
#include "base/strbuf.h"

/* LEB128: numbers in groups of seven bits, lowest first, as DWARF has them. */
void sym_leb_put(struct strbuf *out, uint64_t v);
/* Bits beyond 64 are dropped; cut short is @c->bad and 0. */
uint64_t sym_leb_get(struct cursor *c);

#endif
