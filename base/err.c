/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/err.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

#define MSG_SIZE sizeof(((struct err *)0)->msg)

/* Ends a text that did not fit in "...", not in the middle of a UTF-8 character. */
static void mark_cut(char *msg)
{
	size_t at = MSG_SIZE - sizeof("...");

	while (at && ((unsigned char)msg[at] & 0xc0) == 0x80)
		at--;
	memcpy(msg + at, "...", sizeof("..."));
}

/* Formats into @msg; the arguments may point into an older message. */
static void format(char msg[static MSG_SIZE], const char *fmt, va_list ap)
{
	int n = vsnprintf(msg, MSG_SIZE, fmt, ap);

	if (n < 0)
		msg[0] = '\0';
	else if ((size_t)n >= MSG_SIZE)
		mark_cut(msg);
	/* file names may hold anything; a message is one line on a terminal */
	utf8_no_controls(msg);
}

static void join(char *msg, const char *front, const char *back)
{
	size_t front_len = strlen(front), room = MSG_SIZE - 1;
	char out[MSG_SIZE];
	size_t len = 0;
	bool cut = false;
	const char *parts[] = { front, front_len && *back ? ": " : "", back };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		size_t n = strlen(parts[i]);

		if (n > room - len) {
			n = room - len;
			cut = true;
		}
		memcpy(out + len, parts[i], n);
		len += n;
	}
	out[len] = '\0';
	if (cut)
		mark_cut(out);
	memcpy(msg, out, sizeof(out));
}

int(err_set)(struct err *e, int code, const char *fmt, ...)
{
	char msg[MSG_SIZE];
	va_list ap;

	if (!e)
		return code;
	va_start(ap, fmt);
	format(msg, fmt, ap);
	va_end(ap);
	memcpy(e->msg, msg, sizeof(msg));
	e->code = code;
	return code;
}

int(err_add)(struct err *e, int code, const char *fmt, ...)
{
	char context[MSG_SIZE];
	va_list ap;

	if (!e)
		return code;
	va_start(ap, fmt);
	format(context, fmt, ap);
	va_end(ap);
	join(e->msg, context, e->msg);
	e->code = code;
	return code;
}

int(err_errno)(struct err *e, int code, const char *fmt, ...)
{
	char what[MSG_SIZE], why[128];
	va_list ap;

	if (!e)
		return code;
	va_start(ap, fmt);
	format(what, fmt, ap);
	va_end(ap);
	join(e->msg, what, strerror_r(-code, why, sizeof(why)));
	e->code = code;
	return code;
}
