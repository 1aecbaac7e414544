/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_STRBUF_H
#define BASE_STRBUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

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

/* Private: makes room for @more bytes and the NUL.  False: out of memory. */
bool strbuf_grow(struct strbuf *b, size_t more);
static inline bool strbuf_room(struct strbuf *b, size_t more)
{
	return (more < b->cap - b->len && !b->failed) || strbuf_grow(b, more);
}

static inline void strbuf_add(struct strbuf *b, const void *data, size_t len)
{
	if (!strbuf_room(b, len))
		return;
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
	b->data[b->len] = '\0';
}

static inline void strbuf_puts(struct strbuf *b, const char *s)
{
	strbuf_add(b, s, strlen(s));
}

static inline void strbuf_putc(struct strbuf *b, char c)
{
	if (!strbuf_room(b, 1))
		return;
	b->data[b->len++] = c;
	b->data[b->len] = '\0';
}

/* @n in decimal, right-aligned in @width columns: "%*llu", which takes much longer. */
void strbuf_number(struct strbuf *b, unsigned long long n, size_t width);
/* @n times @c. */
static inline void strbuf_fill(struct strbuf *b, char c, size_t n)
{
	enum { SHORT = 16 }; /* needs no call of memset() */

	if (!strbuf_room(b, n < SHORT ? SHORT : n))
		return;
	if (n < SHORT)
		memset(b->data + b->len, c, SHORT);
	else
		memset(b->data + b->len, c, n);
	b->len += n;
	b->data[b->len] = '\0';
}
void strbuf_printf(struct strbuf *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void strbuf_vprintf(struct strbuf *b, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));
/* Cuts the text to @len bytes if it is longer. */
void strbuf_truncate(struct strbuf *b, size_t len);

#endif
