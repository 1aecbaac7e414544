/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/escape.h"

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

static bool no_control(unsigned char c)
{
	return c >= 0x20 && c != 0x7f;
}

void escape_shown(struct strbuf *out, const char *text, bool (*plain)(unsigned char c))
{
	for (size_t left = strlen(text), len; left; text += len, left -= len) {
		const unsigned char *at = (const unsigned char *)text;

		for (len = 0; len < left && at[len] < 0x80 && plain(at[len]);)
			len++;
		strbuf_add(out, text, len);
		if (len)
			continue;
		len = utf8_control_len(text, left);
		if (len || *at < 0x80) {
			escape_put(out,
				   *at); /* the next one of two is a control itself */
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
	escape_shown(out, text, no_control);
}
