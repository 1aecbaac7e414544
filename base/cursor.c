/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/cursor.h"

#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "decoding copies host integers");

const void *cursor_bytes(struct cursor *c, size_t n)
{
	const uint8_t *at;

	if (c->bad || n > c->len - c->off) {
		c->bad = true;
		return NULL;
	}
	if (!n)
		return c->data ? c->data + c->off : (const void *)"";
	at = c->data + c->off;
	c->off += n;
	return at;
}

static void copy(struct cursor *c, void *out, size_t n)
{
	const void *at = cursor_bytes(c, n);

	if (at)
		memcpy(out, at, n);
}

uint8_t cursor_u8(struct cursor *c)
{
	uint8_t v = 0;

	copy(c, &v, sizeof(v));
	return v;
}

uint16_t cursor_u16(struct cursor *c)
{
	uint16_t v = 0;

	copy(c, &v, sizeof(v));
	return v;
}

uint32_t cursor_u32(struct cursor *c)
{
	uint32_t v = 0;

	copy(c, &v, sizeof(v));
	return v;
}

uint64_t cursor_u64(struct cursor *c)
{
	uint64_t v = 0;

	copy(c, &v, sizeof(v));
	return v;
}

const char *cursor_str(struct cursor *c)
{
	size_t left = cursor_left(c);
	const char *at, *nul;

	if (!left) {
		c->bad = true;
		return NULL;
	}
	at = (const char *)c->data + c->off;
	nul = memchr(at, '\0', left);
	if (!nul) {
		c->bad = true;
		return NULL;
	}
	c->off += (size_t)(nul - at) + 1;
	return at;
}
