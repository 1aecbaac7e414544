/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_STRBUF_H
#define BASE_STRBUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Growing text.  Failure is sticky: a buffer that could not grow ignores what comes
 * later, and strbuf_error() is asked once, at the end.  A zeroed one is empty.
 */
struct strbuf {
	char *data; /* NUL-terminated once anything was added; NULL before */
	size_t len; /* bytes without the NUL */
	size_t cap;
	bool failed;
	struct strbuf_sink *sink; /* borrowed; NULL: the text is kept */
};

/* Takes text out of a buffer before it becomes long. */
struct strbuf_sink {
	size_t at_least; /* bytes that are worth a call of write() */
	/* Takes the text, and resets @b; or leaves it for later.  0 or -errno, which the
	 * sink keeps for who asks why the buffer failed. */
	int (*write)(struct strbuf_sink *s, struct strbuf *b);
};

void strbuf_fini(struct strbuf *b);
/* Empties the buffer and keeps its memory; clears a failure. */
void strbuf_reset(struct strbuf *b);
/* 0, or -ENOMEM if anything added since init or reset did not fit in memory. */
int strbuf_error(const struct strbuf *b);
/* To be called now and then where nobody looks at the text before @b->len again: gives it
 * to the sink, if there is one and enough text.  The buffer fails if the sink does. */
void strbuf_drain(struct strbuf *b);
/* The text, "" if nothing was ever added.  Dies with the next change of @b. */
const char *strbuf_str(const struct strbuf *b);
/* Gives the text (heap, never NULL unless out of memory) to the caller, empties @b. */
char *strbuf_take(struct strbuf *b);

void strbuf_add(struct strbuf *b, const void *data, size_t len);
void strbuf_puts(struct strbuf *b, const char *s);
void strbuf_putc(struct strbuf *b, char c);
/* @n in decimal, right-aligned in @width columns: "%*llu", which takes much longer. */
void strbuf_number(struct strbuf *b, unsigned long long n, size_t width);
/* @n times @c. */
void strbuf_fill(struct strbuf *b, char c, size_t n);
void strbuf_printf(struct strbuf *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void strbuf_vprintf(struct strbuf *b, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));
/* Cuts the text to @len bytes if it is longer. */
void strbuf_truncate(struct strbuf *b, size_t len);

#endif
