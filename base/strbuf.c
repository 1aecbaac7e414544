/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/strbuf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAP = 64 };

void strbuf_fini(struct strbuf *b)
{
	free(b->data);
	*b = (struct strbuf){ 0 };
}

void strbuf_reset(struct strbuf *b)
{
	b->failed = false;
	strbuf_truncate(b, 0);
}

void strbuf_drain(struct strbuf *b)
{
	if (b->sink && !b->failed && b->len >= b->sink->at_least)
		b->failed = b->sink->write(b->sink, b) != 0;
}

int strbuf_error(const struct strbuf *b)
{
	return b->failed ? -ENOMEM : 0;
}

const char *strbuf_str(const struct strbuf *b)
{
	return b->data ? b->data : "";
}

char *strbuf_take(struct strbuf *b)
{
	char *text = b->data;

	if (b->failed) {
		strbuf_fini(b);
		return NULL;
	}
	*b = (struct strbuf){ 0 };
	return text ? text : calloc(1, 1);
}

bool strbuf_grow(struct strbuf *b, size_t more)
{
	size_t want, cap;
	char *grown;

	if (b->failed)
		return false;
	if (__builtin_add_overflow(b->len, more, &want) ||
	    __builtin_add_overflow(want, 1, &want))
		goto failed;
	if (want <= b->cap)
		return true;
	if (__builtin_mul_overflow(b->cap, 2, &cap) || cap < want)
		cap = want;
	if (cap < FIRST_CAP)
		cap = FIRST_CAP;
	grown = realloc(b->data, cap);
	if (!grown)
		goto failed;
	b->data = grown;
	b->cap = cap;
	return true;
failed:
	b->failed = true;
	return false;
}

void strbuf_number(struct strbuf *b, unsigned long long n, size_t width)
{
	char digits[20]; /* of 2^64 - 1 */
	size_t at = sizeof(digits), len;

	do {
		digits[--at] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	len = sizeof(digits) - at;
	if (len < width)
		strbuf_fill(b, ' ', width - len);
	strbuf_add(b, digits + at, len);
}

void strbuf_printf(struct strbuf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strbuf_vprintf(b, fmt, ap);
	va_end(ap);
}

void strbuf_vprintf(struct strbuf *b, const char *fmt, va_list ap)
{
	size_t room;
	va_list again;
	int n;

	if (!strbuf_grow(b, 0))
		return;
	va_copy(again, ap);
	room = b->cap - b->len;
	n = vsnprintf(b->data + b->len, room, fmt, ap);
	if (n >= 0 && (size_t)n >= room && strbuf_grow(b, (size_t)n))
		n = vsnprintf(b->data + b->len, (size_t)n + 1, fmt, again);
	va_end(again);
	if (n < 0)
		b->failed = true;
	if (!b->failed)
		b->len += (size_t)n;
	b->data[b->len] = '\0'; /* a failed try may have left a part */
}

void strbuf_truncate(struct strbuf *b, size_t len)
{
	if (len >= b->len)
		return;
	b->len = len;
	b->data[len] = '\0';
}
