/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBCFI_READER_H
#define LIBCFI_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * As base/cursor.h, in line, and with the numbers of DWARF: half of what is compiled are
 * bytes of this.  Reading past the end sets @bad once and for all and yields zeros.
 */
struct cfi_reader {
	const uint8_t *at, *end;
	bool bad;
};

static inline struct cfi_reader cfi_reader_init(const void *bytes, size_t size)
{
	const uint8_t *at = bytes;

	return (struct cfi_reader){ .at = at, .end = at ? at + size : NULL };
}

static inline size_t cfi_left(const struct cfi_reader *r)
{
	return (size_t)(r->end - r->at);
}

/* @n bytes in place, or NULL. */
static inline const uint8_t *cfi_bytes(struct cfi_reader *r, uint64_t n)
{
	const uint8_t *at = r->at;

	if (r->bad || n > cfi_left(r)) {
		r->bad = true;
		r->at = r->end;
		return NULL;
	}
	r->at += n;
	return at;
}

/* A number of @n bytes, up to 8. */
static inline uint64_t cfi_fixed(struct cfi_reader *r, size_t n)
{
	const uint8_t *at = cfi_bytes(r, n);
	uint64_t v = 0;

	if (at)
		memcpy(&v, at, n);
	return v;
}

static inline uint8_t cfi_u8(struct cfi_reader *r)
{
	if (r->at < r->end)
		return *r->at++;
	r->bad = true;
	return 0;
}

/* LEB128: 7 bits a byte, the lowest first; what does not fit in 64 bits is dropped. */
static inline uint64_t cfi_leb(struct cfi_reader *r, unsigned *bits, uint8_t *last)
{
	uint64_t v = 0;

	*bits = 0;
	do {
		*last = cfi_u8(r);
		if (*bits < 64)
			v |= (uint64_t)(*last & 0x7f) << *bits;
		*bits += 7;
	} while (*last & 0x80);
	return v;
}

static inline uint64_t cfi_uleb(struct cfi_reader *r)
{
	unsigned bits;
	uint8_t last;

	return cfi_leb(r, &bits, &last);
}

static inline int64_t cfi_sleb(struct cfi_reader *r)
{
	unsigned bits;
	uint8_t last;
	uint64_t v = cfi_leb(r, &bits, &last);

	if (bits < 64 && (last & 0x40))
		v |= ~0ull << bits;
	return (int64_t)v;
}

#endif
