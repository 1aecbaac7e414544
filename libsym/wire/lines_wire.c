/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/wire/lines_wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "libsym/wire/wire.h"

void sym_lines_build_fini(struct sym_lines_build *b)
{
	strbuf_fini(&b->reason);
	strbuf_fini(&b->debug_path);
	strbuf_fini(&b->alt_path);
	strbuf_fini(&b->alt_id);
	strbuf_fini(&b->names);
	vec_fini(&b->files);
	vec_fini(&b->inlines);
	vec_fini(&b->rows);
}

enum { NR_TEXTS = 4 }; /* behind the names */

int sym_lines_pack(const struct sym_lines_build *b, struct strbuf *out)
{
	const struct strbuf *const texts[NR_TEXTS] = { &b->reason, &b->debug_path,
						       &b->alt_path, &b->alt_id };
	struct sym_lines_header h = {
		.magic = SYM_LINES_MAGIC,
		.version = SYM_LINES_VERSION,
		.state = b->state,
		.nr_files = (uint32_t)b->files.len,
		.nr_inlines = (uint32_t)b->inlines.len,
		.nr_rows = b->rows.len,
	};
	uint32_t *const offsets[NR_TEXTS] = { &h.reason, &h.debug_path, &h.alt_path,
					      &h.alt_id };
	size_t names = b->names.len;

	for (size_t i = 0; i < NR_TEXTS; i++) {
		if (strbuf_error(texts[i]))
			return -ENOMEM;
		*offsets[i] = (uint32_t)names;
		names += strlen(strbuf_str(texts[i])) + 1;
	}
	if (strbuf_error(&b->names))
		return -ENOMEM;
	if (names > SYM_WIRE_MAX || b->rows.len > SYM_WIRE_MAX / sizeof(*b->rows.data))
		return -EFBIG;
	h.names_len = (uint32_t)names;
	strbuf_add(out, &h, sizeof(h));
	strbuf_add(out, b->rows.data, b->rows.len * sizeof(*b->rows.data));
	strbuf_add(out, b->inlines.data, b->inlines.len * sizeof(*b->inlines.data));
	strbuf_add(out, b->files.data, b->files.len * sizeof(*b->files.data));
	strbuf_add(out, strbuf_str(&b->names), b->names.len);
	for (size_t i = 0; i < NR_TEXTS; i++)
		strbuf_add(out, strbuf_str(texts[i]), strlen(strbuf_str(texts[i])) + 1);
	return strbuf_error(out);
}

struct parts { /* where things are in the bytes that came, and in the block */
	const struct sym_lines_header *h;
	const struct sym_line *rows;
	const struct sym_wire_inline *inlines;
	const uint32_t *files;
	const char *names;
	struct sym_line *to_rows;
	struct sym_inline *to_inlines;
	const char **to_files;
	char *to_names;
};

static int bad(struct err *err, const char *what)
{
	err_set(err, -EBADMSG, "answer of the symbol helper: %s", what);
	return -EBADMSG;
}

static int find_parts(struct parts *p, const void *data, size_t len, struct err *err)
{
	const struct sym_lines_header *h = data;
	uint64_t want;

	if (len < sizeof(*h) || len > SYM_WIRE_MAX)
		return bad(err, "bad length");
	if (h->magic != SYM_LINES_MAGIC || h->version != SYM_LINES_VERSION)
		return bad(err, "not a table of lines");
	if (h->nr_rows > len / sizeof(*p->rows))
		return bad(err, "lengths disagree");
	want = sizeof(*h) + h->nr_rows * sizeof(*p->rows) +
	       (uint64_t)h->nr_inlines * sizeof(*p->inlines) +
	       (uint64_t)h->nr_files * sizeof(*p->files) + h->names_len;
	if (want != len)
		return bad(err, "lengths disagree");
	p->h = h;
	p->rows = (const struct sym_line *)(h + 1);
	p->inlines = (const struct sym_wire_inline *)(p->rows + h->nr_rows);
	p->files = (const uint32_t *)(p->inlines + h->nr_inlines);
	p->names = (const char *)(p->files + h->nr_files);
	if (!h->names_len || p->names[h->names_len - 1])
		return bad(err, "texts without an end");
	if (h->reason >= h->names_len || h->debug_path >= h->names_len ||
	    h->alt_path >= h->names_len || h->alt_id >= h->names_len)
		return bad(err, "text outside the texts");
	return h->state < SYM_NR_STATES ? 0 : bad(err, "unknown state");
}

static bool is_index(uint32_t i, uint32_t nr)
{
	return i < nr || i == SYM_LINE_NONE;
}

static int take_rows(struct parts *p, unsigned flags, struct err *err)
{
	uint64_t end = 0;

	for (uint64_t i = 0; i < p->h->nr_rows; i++) {
		const struct sym_line *r = &p->rows[i];

		if (r->off < end || r->end <= r->off)
			return bad(err, "rows out of order");
		if (!is_index(r->file, p->h->nr_files) ||
		    !is_index(r->inlined, p->h->nr_inlines))
			return bad(err, "row without a file");
		p->to_rows[i] = *r;
		if (!(flags & SYM_LINES_INLINES))
			p->to_rows[i].inlined = SYM_LINE_NONE;
		end = r->end;
	}
	return 0;
}

/* A parent comes before its children, so there can be no loop. */
static int take_inlines(struct parts *p, struct err *err)
{
	for (uint32_t i = 0; i < p->h->nr_inlines; i++) {
		const struct sym_wire_inline *w = &p->inlines[i];

		if (w->name >= p->h->names_len || !is_index(w->parent, i) ||
		    !is_index(w->call_file, p->h->nr_files))
			return bad(err, "bad inlined function");
		p->to_inlines[i] = (struct sym_inline){
			.name = p->to_names + w->name,
			.parent = w->parent,
			.call_file = w->call_file,
			.call_line = w->call_line,
		};
	}
	return 0;
}

static int take_texts(struct parts *p, struct err *err)
{
	for (uint32_t i = 0; i < p->h->names_len; i++)
		p->to_names[i] = sym_wire_plain(p->names[i]);
	for (uint32_t i = 0; i < p->h->nr_files; i++) {
		if (p->files[i] >= p->h->names_len)
			return bad(err, "text outside the texts");
		p->to_files[i] = p->to_names + p->files[i];
	}
	return 0;
}

static void fill(struct sym_lines *l, const struct parts *p)
{
	const struct sym_lines_header *h = p->h;

	*l = (struct sym_lines){
		.state = (enum sym_state)h->state,
		.reason = p->to_names + h->reason,
		.debug_path = p->to_names + h->debug_path,
		.alt_path = p->to_names + h->alt_path,
		.alt_id = p->to_names + h->alt_id,
		.files = p->to_files,
		.rows = p->to_rows,
		.inlines = p->to_inlines,
		.nr_files = h->nr_files,
		.nr_rows = h->nr_rows,
		.nr_inlines = h->nr_inlines,
		.refs = 1,
	};
}

int sym_lines_decode(const void *data, size_t len, unsigned flags, struct sym_lines **out,
		     struct err *err)
{
	CLEANUP(free_ptr) char *block = NULL;
	struct parts p = { 0 };
	struct sym_lines *l;
	size_t size;
	int rc = find_parts(&p, data, len, err);

	if (rc)
		return rc;
	size = sizeof(*l) + p.h->nr_rows * sizeof(*p.to_rows) +
	       p.h->nr_inlines * sizeof(*p.to_inlines) +
	       p.h->nr_files * sizeof(*p.to_files) + p.h->names_len;
	block = malloc(size);
	if (!block)
		return err_set(err, -ENOMEM, "source lines: out of memory");
	l = (struct sym_lines *)block;
	p.to_rows = (struct sym_line *)(l + 1);
	p.to_inlines = (struct sym_inline *)(p.to_rows + p.h->nr_rows);
	p.to_files = (const char **)(p.to_inlines + p.h->nr_inlines);
	p.to_names = (char *)(p.to_files + p.h->nr_files);
	rc = take_rows(&p, flags, err);
	if (!rc)
		rc = take_inlines(&p, err);
	if (!rc)
		rc = take_texts(&p, err);
	if (rc)
		return rc;
	fill(l, &p);
	l->bytes = size;
	block = NULL;
	*out = l;
	return 0;
}

int sym_lines_none(enum sym_state state, const char *reason, struct sym_lines **out,
		   struct err *err)
{
	CLEANUP(sym_lines_build_fini) struct sym_lines_build b = { .state = state };
	CLEANUP(strbuf_fini) struct strbuf blob = { 0 };
	int rc;

	strbuf_puts(&b.reason, reason);
	rc = sym_lines_pack(&b, &blob);
	return rc ? err_errno(err, rc, "source lines")
		  : sym_lines_decode(blob.data, blob.len, 0, out, err);
}
