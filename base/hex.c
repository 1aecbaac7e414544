/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/hex.h"

static const char digits[] = "0123456789abcdef";

int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

void hex_add(struct strbuf *out, const void *bytes, size_t len)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < len; i++) {
		char two[2] = { digits[at[i] >> 4], digits[at[i] & 15] };

		strbuf_add(out, two, sizeof(two));
	}
}

void hex_add_number(struct strbuf *out, uint64_t v, size_t width, char pad)
{
	char text[16];
	size_t at = sizeof(text);

	do {
		text[--at] = digits[v & 15];
		v >>= 4;
	} while (v);
	while (at && sizeof(text) - at < width)
		text[--at] = pad;
	strbuf_add(out, text + at, sizeof(text) - at);
}
