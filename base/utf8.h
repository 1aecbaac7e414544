/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stddef.h>

/* Bytes of the valid UTF-8 sequence at @s, of which @left are there; 0 if it is none. */
size_t utf8_len(const void *s, size_t left);

#endif
