/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_CURSOR_H
#define BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Checked decoding of bytes from outside, little endian as on the host.  Reading past
 * the end sets @bad once and for all and yields zeros; ask @bad after a record.
 */
struct cursor {
	const uint8_t *data;
	size_t len, off;
	bool bad;
};

static inline struct cursor cursor_init(const void *data, size_t len)
{
	return (struct cursor){ .data = data, .len = len };
}

static inline size_t cursor_left(const struct cursor *c)
{
	return c->bad ? 0 : c->len - c->off;
}

uint8_t cursor_u8(struct cursor *c);
uint16_t cursor_u16(struct cursor *c);
uint32_t cursor_u32(struct cursor *c);
uint64_t cursor_u64(struct cursor *c);
/* @n bytes in place, or NULL and @bad.  Borrowed from the buffer under the cursor. */
const void *cursor_bytes(struct cursor *c, size_t n);
/* A NUL-terminated string in place, or NULL and @bad if no NUL is left. */
const char *cursor_str(struct cursor *c);
static inline void cursor_skip(struct cursor *c, size_t n)
{
	if (c->bad || n > c->len - c->off)
		c->bad = true;
	else
		c->off += n;
}

#endif
