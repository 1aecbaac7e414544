/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/leb.h"

void sym_leb_put(struct strbuf *out, uint64_t v)
{
	char bytes[10];
	size_t n = 0;

	do {
		bytes[n++] = (char)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
		v >>= 7;
	} while (v);
	strbuf_add(out, bytes, n);
}

uint64_t sym_leb_get(struct cursor *c)
{
	uint64_t v = 0;
	unsigned shift = 0;
	uint8_t byte = 0x80;

	while (byte & 0x80 && c->off < c->len && !c->bad) {
		byte = c->data[c->off++];
		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		shift = shift < 64 ? shift + 7 : shift;
	}
	c->bad |= byte & 0x80;
	return c->bad ? 0 : v;
}
