/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_TERMINAL_H
#define BASE_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* What a terminal can show. */

/* How wide the terminal @fd is: $COLUMNS, else what the terminal says, else 80. */
unsigned terminal_columns(int fd);
/* Should text on @fd be coloured?  If it is a terminal that can, and $NO_COLOR is not
 * set. */
bool terminal_colors(int fd);

/* Columns that the character at @s takes, of which @left bytes are there, at least 1; its
 * bytes in *len.  -1: it must not be printed: a control character, or no UTF-8. */
int terminal_width(const char *s, size_t left, size_t *len);

/**
 * terminal_page - shows a text as the user's pager does
 * @fd: where the text goes otherwise
 * The pager is $OPFS_PAGER, $PAGER or less, with LESS=FRX if that is not set; if it is
 * empty or "cat", or cannot be started, the text is written to @fd.  A pager that is left
 * before its end is no failure.  Returns 0 or -errno.
 */
int terminal_page(int fd, const char *text, size_t len);

#endif
