/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/escape.h"

#include <stdint.h>
#include <string.h>

#include "base/hex.h"
#include "base/utf8.h"

void escape_put(struct strbuf *out, unsigned char byte)
{
	static const char digits[] = "0123456789ABCDEF";
	char code[3] = { '%', digits[byte >> 4], digits[byte & 15] };

	strbuf_add(out, code, sizeof(code));
}

void escape_add(struct strbuf *out, const void *s, size_t len,
		bool (*plain)(unsigned char c))
{
	const unsigned char *at = s;
	size_t done = 0; /* bytes before this one are in @out */

	for (size_t i = 0; i < len; i++) {
		if (plain(at[i]))
			continue;
		strbuf_add(out, at + done, i - done);
		escape_put(out, at[i]);
		done = i + 1;
	}
	if (done < len)
		strbuf_add(out, at + done, len - done);
}

int escape_byte(const char *s, size_t left)
{
	int high, low;

	if (left < 3 || s[0] != '%')
		return -1;
	high = hex_digit(s[1]);
	low = hex_digit(s[2]);
	return high < 0 || low < 0 ? -1 : high << 4 | low;
}

void escape_decode(struct strbuf *out, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		int byte = escape_byte(s + i, len - i);

		if (byte < 0) {
			strbuf_putc(out, s[i]);
		} else {
			strbuf_putc(out, (char)byte);
			i += 2;
		}
	}
}

bool escape_plain_field(unsigned char c)
{
	return c >= ' ' && c != 0x7f && c != '%';
}

size_t escape_plain_len(const char *text, enum escape_format format)
{
	enum { ALL = ESCAPE_TEXT | ESCAPE_FIELD | ESCAPE_XML | ESCAPE_JSON };
	static const uint8_t special[256] = {
		[0 ... 0x1f] = ALL,   [0x7f ... 0xff] = ALL,
		['%'] = ESCAPE_FIELD, ['"'] = ESCAPE_XML | ESCAPE_JSON,
		['&'] = ESCAPE_XML,   ['<'] = ESCAPE_XML,
		['>'] = ESCAPE_XML,   ['\\'] = ESCAPE_JSON,
	};
	const unsigned char *at = (const unsigned char *)text;

	while (!(special[*at] & format))
		at++;
	return (size_t)(at - (const unsigned char *)text);
}

static void add_shown(struct strbuf *out, const char *text, enum escape_format format)
{
	for (size_t len = 0;; text += len) {
		size_t left;

		len = escape_plain_len(text, format);
		strbuf_add(out, text, len);
		text += len;
		if (!*text)
			return;
		left = strnlen(text, UTF8_MAX);
		if ((unsigned char)*text < 0x80 || utf8_control_len(text, left)) {
			/* the second byte of two is a control itself */
			escape_put(out, (unsigned char)*text);
			len = 1;
		} else {
			len = utf8_len(text, left);
			len = len ? len : 1;
			strbuf_add(out, text, len);
		}
	}
}

void escape_text(struct strbuf *out, const char *text)
{
	add_shown(out, text, ESCAPE_TEXT);
}

void escape_field(struct strbuf *out, const char *text)
{
	add_shown(out, text, ESCAPE_FIELD);
}
