/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_MEMO_H
#define OPFS_REPORT_MEMO_H

#include <stdint.h>

#include "base/percent.h"
#include "base/strbuf.h"

/*
 * Texts that were made of numbers lately: long tables end in thousands of rows with few
 * different counts, and making a text takes longer than the rest of a row.
 */
enum { MEMO_SLOTS = 1 << 8 };

struct memo_slot {
	uint64_t n;
	uint32_t len; /* 0: none yet */
	char text[PERCENT_MAX];
};

struct memo {
	/* The text of a number, at least a byte; returns its length. */
	size_t (*format)(uint64_t n, uint64_t ctx, char out[PERCENT_MAX]);
	uint64_t ctx; /* the same for all of them */
	struct memo_slot slots[MEMO_SLOTS];
};

/* Appends the text of @n. */
static inline void memo_add(struct memo *m, uint64_t n, struct strbuf *out)
{
	struct memo_slot *s = &m->slots[n * 0x9e3779b97f4a7c15ULL >> 56];

	if (!s->len || s->n != n) {
		s->len = (uint32_t)m->format(n, m->ctx, s->text);
		s->n = n;
	}
	if (!strbuf_room(out, sizeof(s->text)))
		return;
	memcpy(out->data + out->len, s->text, sizeof(s->text));
	out->len += s->len;
	out->data[out->len] = '\0';
}

#endif
