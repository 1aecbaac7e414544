/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/escape.h"

int escape_hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

void escape_add(struct strbuf *out, const void *s, size_t len,
		bool (*plain)(unsigned char c))
{
	static const char digits[] = "0123456789ABCDEF";
	const unsigned char *at = s;
	size_t done = 0; /* bytes before this one are in @out */

	for (size_t i = 0; i < len; i++) {
		char code[3] = { '%', digits[at[i] >> 4], digits[at[i] & 15] };

		if (plain(at[i]))
			continue;
		strbuf_add(out, at + done, i - done);
		strbuf_add(out, code, sizeof(code));
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
	high = escape_hex(s[1]);
	low = escape_hex(s[2]);
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
