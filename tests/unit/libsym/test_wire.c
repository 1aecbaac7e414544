/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/cleanup.h"
#include "libsym/wire/wire.h"

static void add(struct sym_build *b, uint64_t off, const char *name)
{
	struct sym_cand c = { .off = off,
			      .size = 8,
			      .vma = off + 0x1000,
			      .limit = 1000,
			      .name = name,
			      .flags = SYM_GLOBAL };

	sym_build_add(b, &c);
}

static struct strbuf make_blob(void)
{
	CLEANUP(sym_build_fini) struct sym_build b = { .source = SYM_FROM_SYMTAB };
	struct strbuf out = { 0 };

	strbuf_puts(&b.path, "/bin/p");
	add(&b, 16, "one");
	add(&b, 32, "tw\no\x1b[2J");
	sym_build_section(&b, 0, 100, 0x1000);
	sym_build_entry(&b, 40, 8, 0x1028);
	sym_build_entry(&b, 16, 20, 0x1010);
	sym_build_state(&b, SYM_UNCHECKED, "why");
	b.build_id = (struct build_id){ .len = 2, .bytes = { 1, 2 } };
	b.text_off = 16;
	b.mtime = -5;
	cr_assert_eq(sym_build_finish(&b), 0);
	cr_assert_eq(sym_wire_encode(&b, &out), 0);
	return out;
}

Test(wire, a_table_survives)
{
	CLEANUP(strbuf_fini) struct strbuf blob = make_blob();
	CLEANUP(sym_table_putp) struct sym_table *t = NULL;
	const struct sym *s;
	uint64_t vma;

	cr_assert_eq(sym_wire_decode(blob.data, blob.len, &t, NULL), 0);
	cr_expect_eq(t->state, SYM_UNCHECKED);
	cr_expect_eq(t->source, SYM_FROM_SYMTAB);
	cr_expect_str_eq(t->reason, "why");
	cr_expect_str_eq(t->path, "/bin/p");
	cr_expect_eq(t->text_off, 16);
	cr_expect_eq(t->mtime, -5);
	cr_expect_eq(t->build_id.len, 2);
	s = sym_find(t, 20);
	cr_assert_not_null(s);
	cr_expect_str_eq(sym_name(s), "one");
	cr_expect_eq(s->vma, 0x1010);
	cr_expect_null(sym_find(t, 24));
	cr_expect(sym_vma(t, 24, &vma) && vma == 0x1018);
	cr_assert_eq(t->nr_entries, 2);
	cr_expect_eq(sym_entry_find(t, 24)->vma, 0x1010);
	cr_expect_eq(sym_entry_find(t, 47)->vma, 0x1028);
	cr_expect_null(sym_entry_find(t, 36));
}

Test(wire, tables_that_were_kept_without_entries_are_read)
{
	CLEANUP(sym_build_fini) struct sym_build b = { .source = SYM_FROM_DYNSYM };
	CLEANUP(strbuf_fini) struct strbuf blob = { 0 };
	CLEANUP(sym_table_putp) struct sym_table *t = NULL;
	struct sym_wire_header h;

	add(&b, 16, "one");
	cr_assert_eq(sym_build_finish(&b), 0);
	cr_assert_eq(sym_wire_encode(&b, &blob), 0);
	memcpy(&h, blob.data, sizeof(h));
	/* as it was: 7 bytes of padding, then symbols, sections, names */
	cr_expect_eq(h.version, 1);
	cr_expect_eq(h.nr_entries, 0);
	cr_expect_eq(offsetof(struct sym_wire_header, pad), 113);
	cr_expect_eq(blob.len, 120 + sizeof(struct sym_wire_sym) + h.names_len);
	cr_assert_eq(sym_wire_decode(blob.data, blob.len, &t, NULL), 0);
	cr_expect_null(sym_entry_find(t, 16));
}

Test(wire, control_bytes_in_names_cannot_forge_lines)
{
	CLEANUP(strbuf_fini) struct strbuf blob = make_blob();
	CLEANUP(sym_table_putp) struct sym_table *t = NULL;

	cr_assert_eq(sym_wire_decode(blob.data, blob.len, &t, NULL), 0);
	cr_expect_str_eq(sym_name(sym_find(t, 32)), "tw?o?[2J");
}

Test(wire, each_control_byte_is_replaced_wherever_it_is_and_no_other)
{
	for (int c = 1; c < 256; c++)
		for (size_t at = 0; at < 16; at++) {
			CLEANUP(sym_build_fini) struct sym_build b = { 0 };
			CLEANUP(strbuf_fini) struct strbuf blob = { 0 };
			CLEANUP(sym_table_putp) struct sym_table *t = NULL;
			char name[] = "\xc3\xa4 name~\x80of16";

			name[at % (sizeof(name) - 1)] = (char)c;
			add(&b, 16, name);
			cr_assert_eq(sym_build_finish(&b), 0);
			cr_assert_eq(sym_wire_encode(&b, &blob), 0);
			cr_assert_eq(sym_wire_decode(blob.data, blob.len, &t, NULL), 0);
			for (char *n = name; *n; n++)
				*n = (unsigned char)*n < ' ' || *n == 0x7f ? '?' : *n;
			cr_assert_str_eq(sym_name(sym_find(t, 16)), name, "%d at %zu", c,
					 at);
		}
}

Test(wire, a_table_that_is_cut_short_or_has_more_is_refused)
{
	CLEANUP(strbuf_fini) struct strbuf blob = make_blob();
	struct sym_table *t = NULL;

	for (size_t len = 0; len < blob.len; len++)
		cr_assert_eq(sym_wire_decode(blob.data, len, &t, NULL), -EBADMSG);
	strbuf_putc(&blob, 0);
	cr_assert_eq(sym_wire_decode(blob.data, blob.len, &t, NULL), -EBADMSG);
	cr_expect_null(t);
}

/* Changes one field of a good table and tells what the decoder says. */
static int with_u32(size_t at, uint32_t value)
{
	CLEANUP(strbuf_fini) struct strbuf blob = make_blob();
	CLEANUP(sym_table_putp) struct sym_table *t = NULL;
	struct err err = { 0 };
	int rc;

	memcpy(blob.data + at, &value, sizeof(value));
	rc = sym_wire_decode(blob.data, blob.len, &t, &err);
	cr_expect(!rc || strstr(err.msg, "symbol helper"), "%s", err.msg);
	return rc;
}

Test(wire, lies_in_the_header_are_refused)
{
	static const size_t fields[] = {
		offsetof(struct sym_wire_header, magic),
		offsetof(struct sym_wire_header, version),
		offsetof(struct sym_wire_header, state),
		offsetof(struct sym_wire_header, source),
		offsetof(struct sym_wire_header, nr_syms),
		offsetof(struct sym_wire_header, nr_sections),
		offsetof(struct sym_wire_header, nr_entries),
		offsetof(struct sym_wire_header, names_len),
		offsetof(struct sym_wire_header, reason),
		offsetof(struct sym_wire_header, path),
		offsetof(struct sym_wire_header, debug_path),
		offsetof(struct sym_wire_header, id_len),
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		cr_expect_eq(with_u32(fields[i], 0x7fffffff), -EBADMSG, "field %zu", i);
}

Test(wire, lies_about_symbols_are_refused)
{
	const size_t first = sizeof(struct sym_wire_header);
	const size_t second = first + sizeof(struct sym_wire_sym);

	cr_expect_eq(with_u32(second + offsetof(struct sym_wire_sym, off), 16), -EBADMSG);
	cr_expect_eq(with_u32(first + offsetof(struct sym_wire_sym, size), 0), -EBADMSG);
	cr_expect_eq(with_u32(first + offsetof(struct sym_wire_sym, off) + 4, 1),
		     -EBADMSG);
	cr_expect_eq(with_u32(first + offsetof(struct sym_wire_sym, name), 9999),
		     -EBADMSG);
}

Test(wire, lies_about_entries_are_refused)
{
	const size_t first = sizeof(struct sym_wire_header) +
			     2 * sizeof(struct sym_wire_sym) + sizeof(struct sym_section);
	const size_t second = first + sizeof(struct sym_section);

	cr_expect_eq(with_u32(second + offsetof(struct sym_section, off), 35), -EBADMSG);
	cr_expect_eq(with_u32(first + offsetof(struct sym_section, size), 25), -EBADMSG);
	cr_expect_eq(with_u32(first + offsetof(struct sym_section, size), 0), -EBADMSG);
	cr_expect_eq(with_u32(first + offsetof(struct sym_section, size), 24), 0);
}

Test(wire, no_single_damaged_byte_crashes_the_reader)
{
	CLEANUP(strbuf_fini) struct strbuf blob = make_blob();

	for (size_t at = 0; at < blob.len; at++)
		for (int bit = 0; bit < 8; bit++) {
			struct sym_table *t = NULL;

			blob.data[at] ^= (char)(1 << bit);
			if (!sym_wire_decode(blob.data, blob.len, &t, NULL))
				for (uint64_t off = 0; off < 64; off++) {
					sym_find(t, off);
					sym_entry_find(t, off);
				}
			sym_table_put(t);
			blob.data[at] ^= (char)(1 << bit);
		}
}
