/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stddef.h>

#define UTF8_MAX 4 /* bytes of a character */

/* Bytes of the valid UTF-8 sequence at @s, of which @left are there; 0 if it is none. */
size_t utf8_len(const void *s, size_t left);
/* Bytes of the control character at @s, of which @left, at least 1, are there: what moves
 * a cursor, or worse, on some terminal.  C1 controls are bytes of their own or, in UTF-8,
 * two.  0 if it is none. */
size_t utf8_control_len(const void *s, size_t left);
/* Puts a ? for each byte of control characters. */
void utf8_no_controls(char *text);

#endif
