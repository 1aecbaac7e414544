/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_HEX_H
#define BASE_HEX_H

#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

/* Lower-case hexadecimal; printf() would take most of the time of a long table. */

/* The value of a digit of either case, or -1. */
int hex_digit(char c);
/* Appends two digits for each of @len bytes. */
void hex_add(struct strbuf *out, const void *bytes, size_t len);
/* Appends @v, right-aligned by @pad in @width columns (at most 16). */
void hex_add_number(struct strbuf *out, uint64_t v, size_t width, char pad);

#endif
