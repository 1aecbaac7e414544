/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: libsym base */
/* Answers, a request, a demangled name and kept names of arbitrary bytes. */
#include <stdlib.h>
#include <string.h>

#include "libsym/file/find.h"
#include "libsym/table/demangle.h"
#include "libsym/table/smart.h"
#include "libsym/wire/kept.h"
#include "libsym/wire/lines_wire.h"
#include "libsym/wire/request.h"
#include "libsym/wire/source_wire.h"
#include "libsym/wire/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct sym_table *t)
{
	uint64_t vma;

	for (size_t i = 0; i < t->nr_syms; i++) {
		const struct sym *s = &t->syms[i];

		if (sym_find(t, s->off) != s || strpbrk(sym_name(s), "\n\t\x1b"))
			abort();
		if (sym_find(t, s->off + s->size) == s)
			abort();
		sym_vma(t, s->off, &vma);
	}
	for (size_t i = 0; i < t->nr_entries; i++) {
		const struct sym_section *e = &t->entries[i];

		if (sym_entry_find(t, e->off + e->size - 1) != e ||
		    sym_entry_find(t, e->off + e->size) == e)
			abort();
	}
	if (strlen(t->reason) + strlen(t->path) + strlen(t->debug_path) > 3u << 20)
		abort();
}

static void check_lines(const struct sym_lines *l)
{
	for (size_t i = 0; i < l->nr_rows; i++) {
		const struct sym_line *row = &l->rows[i];
		uint32_t at = row->inlined;

		if (sym_line_find(l, row->off) != row)
			abort();
		if (row->file != SYM_LINE_NONE && strpbrk(l->files[row->file], "\n\x1b"))
			abort();
		for (size_t depth = 0; at != SYM_LINE_NONE; depth++) {
			if (depth > l->nr_inlines || strpbrk(l->inlines[at].name, "\n"))
				abort();
			at = l->inlines[at].parent;
		}
	}
}

static void try_answers(const void *data, size_t size)
{
	struct sym_lines *l = NULL;
	struct sym_found *f = NULL;
	struct sym_text *s = NULL;

	if (!sym_lines_decode(data, size, SYM_LINES_INLINES, &l, NULL))
		check_lines(l);
	sym_lines_put(l);
	if (!sym_source_decode(data, size, &s, NULL) &&
	    (s->data[s->len] || strpbrk(s->reason, "\n") || strpbrk(s->path, "\n")))
		abort();
	sym_text_free(s);
	if (!sym_find_decode(data, size, &f, NULL))
		for (size_t i = 0; i < f->nr; i++)
			if (strlen(f->path[i]) > size)
				abort();
	free(f);
}

static void try_request(const void *data, size_t size)
{
	struct sym_request r = { 0 };

	if (!sym_request_parse(data, size, &r, NULL)) {
		if (r.kind == SYM_REQUEST_LOAD &&
		    strlen(r.job.path) + strlen(r.places.kernel_notes) > size)
			abort();
		for (size_t i = 0; i < r.parts.nr; i++)
			if (r.parts.ranges[i].off > r.parts.ranges[i].end)
				abort();
	}
	sym_request_fini(&r);
}

static void check_kept(const struct sym_kept *k)
{
	const struct sym_job job = { .path = "/p", .mtime = 1 };
	struct sym_table *t = NULL;
	struct sym_lines *l = NULL;

	for (size_t i = 0; i < k->nr_ranges; i++)
		if (k->ranges[i].end <= k->ranges[i].off)
			abort();
	if (!sym_kept_table(k, &job, &t, NULL))
		check(t);
	if (!sym_kept_lines(k, SYM_LINES_INLINES, &l, NULL))
		check_lines(l);
	sym_table_put(t);
	sym_lines_put(l);
}

/* As a file; and as what is in one, with the right sum. */
static void try_kept(const void *data, size_t size)
{
	struct sym_kept in = { .table = data,
			       .table_len = size,
			       .ranges = data,
			       .nr_ranges = size / sizeof(struct sym_range) % 4,
			       .lines = data,
			       .lines_len = size };
	struct sym_kept k = { 0 };
	struct strbuf bytes = { 0 };

	strbuf_add(&bytes, data, size);
	if (!sym_kept_decode(&bytes, &k, NULL))
		check_kept(&k);
	sym_kept_fini(&k);
	if (sym_kept_encode(&in, &bytes))
		abort();
	if (!sym_kept_decode(&bytes, &k, NULL))
		check_kept(&k);
	sym_kept_fini(&k);
}

static void try_smart(const uint8_t *data, size_t size)
{
	struct strbuf out = { 0 };
	char *text = malloc(size + 1);

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	sym_demangle_smart(text, &out);
	if (out.len > size)
		abort();
	strbuf_fini(&out);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sym_table *t = NULL;
	void *copy = malloc(size + 8); /* aligned as the decoders ask for */

	if (!copy)
		abort();
	memcpy(copy, data, size);
	if (!sym_wire_decode(copy, size, &t, NULL))
		check(t);
	sym_table_put(t);
	try_answers(copy, size);
	try_kept(copy, size);
	try_request(copy, size);
	free(copy);
	try_smart(data, size);
	return 0;
}
