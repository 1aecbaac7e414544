/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_ESCAPE_H
#define BASE_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

/* %XX escapes, upper-case hexadecimal, in paths and tables. */

/* Appends %XX. */
void escape_put(struct strbuf *out, unsigned char byte);
/* Appends @len bytes of @s; each for which @plain is false becomes %XX. */
void escape_add(struct strbuf *out, const void *s, size_t len,
		bool (*plain)(unsigned char c));

/**
 * escape_byte - the byte that an escape at @s stands for
 * Returns 0..255 if @s[0..2] is % and two hexadecimal digits (@left bytes are there),
 * else -1: the % is then itself.
 */
int escape_byte(const char *s, size_t left);

/* Appends a name to a line of text; control characters, which would break it or command a
 * terminal, become %XX. */
void escape_text(struct strbuf *out, const char *text);
/* The same for a field of a tab-separated table: also % itself. */
void escape_field(struct strbuf *out, const char *text);

/* Formats in which most characters stand for themselves. */
enum escape_format { ESCAPE_TEXT = 1, ESCAPE_FIELD = 2, ESCAPE_XML = 4, ESCAPE_JSON = 8 };
/* How many bytes @text begins with that surely do: only ASCII.  Stops at the NUL. */
size_t escape_plain_len(const char *text, enum escape_format format);

/* Appends @s with every valid %XX decoded. */
void escape_decode(struct strbuf *out, const char *s, size_t len);

/* True for bytes that a field of a tab-separated table may hold as they are. */
bool escape_plain_field(unsigned char c);

#endif
