/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/wire/disasm_wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "libsym/wire/wire.h"

struct parts { /* where things are in the bytes that came, and in the result's block */
	const struct sym_disasm_header *h;
	const struct sym_disasm_code *codes;
	const struct sym_disasm_insn *insns;
	const uint8_t *bytes;
	const char *texts;
	struct sym_code *to_codes;
	struct sym_insn *to_insns;
	uint8_t *to_bytes;
	char *to_texts;
	uint32_t used_insns; /* taken so far */
	uint64_t used_bytes;
};

static int bad(struct err *err, const char *what)
{
	return err_set(err, -EBADMSG, "answer of the symbol helper: code: %s", what);
}

static int find_parts(struct parts *p, const void *data, size_t len, struct err *err)
{
	const struct sym_disasm_header *h = data;
	uint64_t want;

	if (len < sizeof(*h) || len > SYM_WIRE_MAX)
		return bad(err, "bad length");
	if (h->magic != SYM_DISASM_MAGIC || h->version != SYM_WIRE_VERSION)
		return bad(err, "not code");
	want = sizeof(*h) + (uint64_t)h->nr_codes * sizeof(*p->codes) +
	       (uint64_t)h->nr_insns * sizeof(*p->insns) + h->text_len;
	if (h->bytes_len > SYM_WIRE_MAX || want + h->bytes_len != len)
		return bad(err, "lengths disagree");
	p->h = h;
	p->codes = (const struct sym_disasm_code *)(h + 1);
	p->insns = (const struct sym_disasm_insn *)(p->codes + h->nr_codes);
	p->bytes = (const uint8_t *)(p->insns + h->nr_insns);
	p->texts = (const char *)(p->bytes + h->bytes_len);
	if (!h->text_len || p->texts[h->text_len - 1])
		return bad(err, "texts without an end");
	if (h->reason >= h->text_len || h->state >= SYM_NR_STATES)
		return bad(err, "unknown state");
	return 0;
}

static int take_insns(struct parts *p, const struct sym_disasm_code *c, struct err *err)
{
	uint64_t end = 0, size = c->end - c->off;

	for (uint32_t i = 0; i < c->nr_insns; i++) {
		const struct sym_disasm_insn *w = &p->insns[p->used_insns];

		if (w->at < end || !w->len)
			return bad(err, "instructions out of order");
		end = (uint64_t)w->at + w->len;
		if (end > size || w->text >= p->h->text_len)
			return bad(err, "instruction outside its range");
		p->to_insns[p->used_insns++] = (struct sym_insn){
			.off = c->off + w->at,
			.vma = c->vma + w->at,
			.len = w->len,
			.text = p->to_texts + w->text,
		};
	}
	return 0;
}

static int take_code(struct parts *p, uint32_t i, struct err *err)
{
	const struct sym_disasm_code *c = &p->codes[i];
	struct sym_code *to = &p->to_codes[i];
	uint64_t size = c->end - c->off, end;

	if (c->end < c->off || __builtin_add_overflow(c->vma, size, &end))
		return bad(err, "range with a bad size");
	if (c->has_bytes > 1 || (c->has_bytes && size > p->h->bytes_len - p->used_bytes))
		return bad(err, "bytes are missing");
	if (c->nr_insns > p->h->nr_insns - p->used_insns)
		return bad(err, "instructions are missing");
	*to = (struct sym_code){
		.range = { .off = c->off, .end = c->end },
		.vma = c->vma,
		.insns = p->to_insns + p->used_insns,
		.nr_insns = c->nr_insns,
	};
	if (c->has_bytes) {
		to->bytes = p->to_bytes + p->used_bytes;
		p->used_bytes += size;
	}
	return take_insns(p, c, err);
}

static int take_all(struct parts *p, struct err *err)
{
	int rc = 0;

	for (uint32_t i = 0; i < p->h->nr_codes && !rc; i++)
		rc = take_code(p, i, err);
	if (rc)
		return rc;
	if (p->used_insns != p->h->nr_insns || p->used_bytes != p->h->bytes_len)
		return bad(err, "more than its ranges hold");
	if (p->h->bytes_len)
		memcpy(p->to_bytes, p->bytes, p->h->bytes_len);
	for (uint32_t i = 0; i < p->h->text_len; i++)
		p->to_texts[i] = sym_wire_plain(p->texts[i]);
	return 0;
}

int sym_disasm_decode(const void *data, size_t len, struct sym_disasm **out,
		      struct err *err)
{
	CLEANUP(free_ptr) char *block = NULL;
	struct parts p = { 0 };
	struct sym_disasm *d;
	size_t size;
	int rc = find_parts(&p, data, len, err);

	if (rc)
		return rc;
	size = sizeof(*d) + p.h->nr_codes * sizeof(*p.to_codes) +
	       p.h->nr_insns * sizeof(*p.to_insns) + p.h->bytes_len + p.h->text_len;
	block = malloc(size);
	if (!block)
		return err_set(err, -ENOMEM, "code: out of memory");
	d = (struct sym_disasm *)block;
	p.to_codes = (struct sym_code *)(d + 1);
	p.to_insns = (struct sym_insn *)(p.to_codes + p.h->nr_codes);
	p.to_bytes = (uint8_t *)(p.to_insns + p.h->nr_insns);
	p.to_texts = (char *)(p.to_bytes + p.h->bytes_len);
	rc = take_all(&p, err);
	if (rc)
		return rc;
	*d = (struct sym_disasm){
		.state = (enum sym_state)p.h->state,
		.reason = p.to_texts + p.h->reason,
		.codes = p.to_codes,
		.nr_codes = p.h->nr_codes,
		.bytes = size,
		.refs = 1,
	};
	block = NULL;
	*out = d;
	return 0;
}
