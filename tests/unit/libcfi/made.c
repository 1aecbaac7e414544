/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/libcfi/made.h"

#include <criterion/criterion.h>
#include <string.h>

static void put(struct strbuf *b, uint64_t value, size_t size)
{
	strbuf_add(b, &value, size);
}

static void put_entry(struct made *m, uint32_t id, const struct strbuf *body)
{
	size_t pad = -body->len & 7;

	put(&m->frames, 4 + body->len + pad, 4);
	put(&m->frames, id, 4);
	strbuf_add(&m->frames, body->data, body->len);
	strbuf_fill(&m->frames, 0, pad);
}

void made_common_of(struct made *m, const char *letters, const uint8_t *code, size_t size)
{
	struct strbuf b = { 0 };

	m->common = m->frames.len;
	put(&b, 1, 1);
	strbuf_add(&b, letters, strlen(letters) + 1);
	put(&b, 1, 1);    /* units of code */
	put(&b, 0x78, 1); /* -8: units of data */
	put(&b, m->machine == CFI_ARM64 ? 30 : 16, 1);
	put(&b, 1, 1);
	put(&b, 0, 1); /* pointers are addresses */
	strbuf_add(&b, code, size);
	put_entry(m, 0, &b);
	strbuf_fini(&b);
}

void made_common(struct made *m, const char *letters)
{
	if (!m->machine)
		m->machine = CFI_X86_64;
	if (m->machine == CFI_ARM64)
		made_common_of(m, letters, CODE(0x0c, 31, 0));
	else
		made_common_of(m, letters, CODE(0x0c, 7, 8, 0x90, 1));
}

void made_function(struct made *m, uint64_t start, uint64_t size, const uint8_t *code,
		   size_t code_size)
{
	struct strbuf b = { 0 };

	put(&b, start, 8);
	put(&b, size, 8);
	put(&b, 0, 1);
	strbuf_add(&b, code, code_size);
	put_entry(m, (uint32_t)(m->frames.len + 4 - m->common), &b);
	strbuf_fini(&b);
}

void made_compile(struct made *m)
{
	struct err err = { 0 };

	cr_assert_eq(cfi_compile_frames(m->machine, m->frames.data, m->frames.len, 0,
					&m->bytes, &err),
		     0, "%s", err.msg);
	cr_assert_eq(cfi_table_init(&m->table, m->bytes.data, m->bytes.len, &err), 0,
		     "%s", err.msg);
}

void made_fini(struct made *m)
{
	strbuf_fini(&m->frames);
	strbuf_fini(&m->bytes);
}
