/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "libsym/wire/lines_wire.h"

static uint32_t text(struct sym_lines_build *b, const char *s)
{
	uint32_t at = (uint32_t)b->names.len;

	strbuf_add(&b->names, s, strlen(s) + 1);
	return at;
}

static struct strbuf make_blob(void)
{
	CLEANUP(sym_lines_build_fini) struct sym_lines_build b = { .state = SYM_BROKEN };
	struct strbuf out = { 0 };
	struct sym_wire_inline in = { .parent = SYM_LINE_NONE, .call_line = 9 };
	struct sym_line row = { .off = 16, .end = 20, .line = 7, .inlined = 1 };
	int rc = vec_push(&b.files, text(&b, "/src/a.c"));

	rc |= vec_push(&b.files, text(&b, "/src/b\n.c"));
	in.name = text(&b, "outer");
	rc |= vec_push(&b.inlines, in);
	in.parent = 0;
	in.call_file = 1;
	in.name = text(&b, "in\x1bner");
	rc |= vec_push(&b.inlines, in);
	rc |= vec_push(&b.rows, row);
	row = (struct sym_line){ 20, 21, SYM_LINE_NONE, 0, SYM_LINE_NONE };
	rc |= vec_push(&b.rows, row);
	strbuf_puts(&b.reason, "why");
	strbuf_puts(&b.debug_path, "/debug");
	cr_assert_eq(rc | sym_lines_pack(&b, &out), 0);
	return out;
}

static int decode(const struct strbuf *blob)
{
	CLEANUP(sym_lines_putp) struct sym_lines *l = NULL;

	return sym_lines_decode(blob->data, blob->len, SYM_LINES_INLINES, &l, NULL);
}

Test(lines_wire, lines_survive)
{
	CLEANUP(strbuf_fini) struct strbuf blob = make_blob();
	CLEANUP(sym_lines_putp) struct sym_lines *l = NULL;
	const struct sym_line *row;

	cr_assert_eq(sym_lines_decode(blob.data, blob.len, SYM_LINES_INLINES, &l, NULL),
		     0);
	cr_expect_eq(l->state, SYM_BROKEN);
	cr_expect_str_eq(l->reason, "why");
	cr_expect_str_eq(l->debug_path, "/debug");
	cr_expect_null(sym_line_find(l, 15));
	cr_expect_null(sym_line_find(l, 21));
	row = sym_line_find(l, 19);
	cr_assert_not_null(row);
	cr_expect_str_eq(l->files[row->file], "/src/a.c");
	cr_expect_eq(row->line, 7);
	cr_expect_str_eq(l->inlines[row->inlined].name, "in?ner");
	cr_expect_str_eq(l->files[l->inlines[row->inlined].call_file], "/src/b?.c");
	cr_expect_str_eq(l->inlines[l->inlines[row->inlined].parent].name, "outer");
	cr_expect_eq(sym_line_find(l, 20)->file, SYM_LINE_NONE);
	cr_expect(l->bytes > 100);
}

Test(lines_wire, what_is_cut_short_or_longer_is_refused)
{
	CLEANUP(strbuf_fini) struct strbuf blob = make_blob();
	CLEANUP(sym_lines_putp) struct sym_lines *l = NULL;

	for (size_t len = 0; len < blob.len; len++)
		cr_assert_eq(sym_lines_decode(blob.data, len, SYM_LINES_INLINES, &l,
					      NULL),
			     -EBADMSG);
	strbuf_add(&blob, "\0", 1);
	cr_expect_eq(decode(&blob), -EBADMSG);
}

/* Where the parts of make_blob() are. */
struct view {
	struct sym_lines_header *h;
	struct sym_line *rows;
	struct sym_wire_inline *inlines;
	uint32_t *files;
};

static struct view view(struct strbuf *blob)
{
	struct view v = { .h = (struct sym_lines_header *)blob->data };

	v.rows = (struct sym_line *)(v.h + 1);
	v.inlines = (struct sym_wire_inline *)(v.rows + v.h->nr_rows);
	v.files = (uint32_t *)(v.inlines + v.h->nr_inlines);
	return v;
}

#define REFUSED(change)                                                                  \
	do {                                                                             \
		CLEANUP(strbuf_fini) struct strbuf blob = make_blob();                   \
		struct view v = view(&blob);                                             \
                                                                                         \
		change;                                                                  \
		cr_expect_eq(decode(&blob), -EBADMSG, "%s", #change);                    \
	} while (0)

Test(lines_wire, nothing_that_points_elsewhere_is_believed)
{
	REFUSED(v.h->magic++);
	REFUSED(v.h->version++);
	REFUSED(v.h->state = SYM_NR_STATES);
	REFUSED(v.h->nr_files = UINT32_MAX);
	REFUSED(v.h->nr_inlines = UINT32_MAX);
	REFUSED(v.h->nr_rows = UINT64_MAX / 32 + 2);
	REFUSED(v.h->names_len = 0);
	REFUSED(v.h->reason = v.h->names_len);
	REFUSED(v.h->debug_path = UINT32_MAX);
	REFUSED(v.rows[0].file = 2);
	REFUSED(v.rows[0].inlined = 2);
	REFUSED(v.rows[0].end = v.rows[0].off);
	REFUSED(v.rows[1].off = 19);
	REFUSED(v.rows[1].end = 3);
	REFUSED(v.inlines[0].parent = 0);
	REFUSED(v.inlines[0].parent = 1);
	REFUSED(v.inlines[1].parent = 1);
	REFUSED(v.inlines[1].call_file = 2);
	REFUSED(v.inlines[1].name = v.h->names_len);
	REFUSED(v.files[1] = v.h->names_len);
	REFUSED(blob.data[blob.len - 1] = 'x');
}

Test(lines_wire, a_result_without_lines_says_why)
{
	CLEANUP(sym_lines_putp) struct sym_lines *l = NULL;

	cr_assert_eq(sym_lines_none(SYM_MISSING, "no\nthing", &l, NULL), 0);
	cr_expect_eq(l->state, SYM_MISSING);
	cr_expect_str_eq(l->reason, "no?thing");
	cr_expect_null(sym_line_find(l, 0));
	cr_expect_eq(sym_lines_get(l), l);
	sym_lines_put(l);
}
