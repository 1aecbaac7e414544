/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/xml_symbols.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hex.h"
#include "base/markup.h"
#include "base/sort.h"

/* ---- which rows are the same symbol */

/* Tells rows of one image apart that are not the same symbol. */
static uint64_t key_of(const struct profile_row *row)
{
	return row->sym ? (uintptr_t)row->sym : row->kind;
}

static bool same_symbol(const struct profile_row *a, const struct profile_row *b)
{
	return a->image == b->image && key_of(a) == key_of(b);
}

static int group_rows(struct xml_symbols *s)
{
	const struct profile_row *rows = s->job->p->rows;
	size_t nr = s->job->p->nr_rows;
	CLEANUP(free_ptr) struct sort_item *items = malloc((2 * nr + 1) * sizeof(*items));

	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		items[i] =
			(struct sort_item){ .key = key_of(&rows[i]), .a = (uint32_t)i };
	sort_items(items, nr, items + nr);
	for (size_t i = 0; i < nr; i++)
		items[i].key = rows[items[i].a].image;
	sort_items(items, nr, items + nr);
	for (size_t i = 0; i < nr; i++) {
		const struct profile_row *row = &rows[items[i].a];

		if (!i || !same_symbol(&rows[items[i - 1].a], row))
			s->symbols[s->nr++] = (struct xml_symbol){
				.row = row,
				.id = XML_NO_ID,
				.first = XML_NO_ID,
			};
		s->of_row[items[i].a] = s->nr - 1;
	}
	return 0;
}

int xml_symbols_init(struct xml_symbols *s, const struct report_job *job)
{
	size_t nr = job->p->nr_rows + 1;

	*s = (struct xml_symbols){
		.job = job,
		.symbols = calloc(nr, sizeof(*s->symbols)),
		.of_row = calloc(nr, sizeof(*s->of_row)),
		.next = calloc(nr, sizeof(*s->next)),
		.by_id = calloc(nr, sizeof(*s->by_id)),
	};
	if (s->symbols && s->of_row && s->next && s->by_id && !group_rows(s))
		return 0;
	xml_symbols_fini(s);
	return -ENOMEM;
}

void xml_symbols_fini(struct xml_symbols *s)
{
	free(s->symbols);
	free(s->of_row);
	free(s->next);
	free(s->by_id);
	*s = (struct xml_symbols){ 0 };
}

static struct xml_symbol *symbol_of(struct xml_symbols *s, const struct profile_row *row)
{
	return &s->symbols[s->of_row[row - s->job->p->rows]];
}

uint32_t xml_symbol_id(struct xml_symbols *s, const struct profile_row *row)
{
	struct xml_symbol *sym = symbol_of(s, row);

	if (sym->id == XML_NO_ID) {
		sym->id = s->nr_ids;
		s->by_id[s->nr_ids++] = s->of_row[row - s->job->p->rows];
	}
	return sym->id;
}

uint32_t xml_symbol_details(struct xml_symbols *s, const struct profile_row *row)
{
	struct xml_symbol *sym = symbol_of(s, row);
	uint32_t at = (uint32_t)(row - s->job->p->rows), first = sym->nr_details;

	if (sym->first == XML_NO_ID)
		sym->first = at;
	else
		s->next[sym->last] = at;
	sym->last = at;
	s->next[at] = XML_NO_ID;
	sym->nr_details += row->nr_hits;
	return first;
}

/* ---- the tables */

struct tables {
	struct xml_symbols *s;
	const struct report_lines *lines;
	xml_add_counts *counts;
	void *ctx;
	struct strbuf *out;
	struct err *err;
	bool wide; /* addresses have 16 digits, not 8 */
};

static void add_address(const struct tables *t, const char *name, uint64_t vma)
{
	strbuf_puts(t->out, "  ");
	strbuf_puts(t->out, name);
	strbuf_puts(t->out, "=\"");
	hex_add_number(t->out, vma, t->wide || vma > UINT32_MAX ? 16 : 8, '0');
	strbuf_putc(t->out, '"');
}

static void add_place(const struct line_place *at, const char *unless, struct strbuf *out)
{
	if (!unless || strcmp(at->file, unless) != 0) {
		strbuf_puts(out, " file=\"");
		markup_xml(at->file, out);
		strbuf_putc(out, '"');
	}
	if (at->line)
		strbuf_printf(out, " line=\"%" PRIu32 "\"", at->line);
}

static void add_symbol(const struct tables *t, const struct xml_symbol *sym)
{
	struct line_place at;

	strbuf_puts(t->out, "<symboldata  id=\"");
	strbuf_number(t->out, sym->id, 0);
	strbuf_puts(t->out, "\"  name=\"");
	markup_xml(sym->row->name, t->out);
	strbuf_putc(t->out, '"');
	if (report_line_of_row(t->lines, sym->row, &at))
		add_place(&at, NULL, t->out);
	add_address(t, "startingaddr", profile_vma(sym->row));
	strbuf_puts(t->out, "/>\n");
}

static void add_row_details(const struct tables *t, const struct profile_row *row,
			    const char *file, uint32_t id)
{
	const struct profile *p = t->s->job->p;
	struct line_place at;

	for (size_t i = 0; i < row->nr_hits; i++) {
		strbuf_puts(t->out, "<detaildata  id=\"");
		strbuf_number(t->out, id + i, 0);
		strbuf_putc(t->out, '"');
		add_address(t, "vmaoffset", profile_hit_vma(p, row, i));
		if (report_line_of_hit(t->lines, row, i, &at))
			add_place(&at, file, t->out);
		strbuf_puts(t->out, ">\n");
		t->counts(t->ctx, profile_hit_samples(row, i, p->nr_classes));
		strbuf_puts(t->out, "</detaildata>\n");
	}
}

static void add_details(const struct tables *t, const struct xml_symbol *sym)
{
	const struct profile_row *rows = t->s->job->p->rows;
	struct line_place start;
	bool known = report_line_of_row(t->lines, sym->row, &start);
	uint32_t id = 0;

	if (!sym->nr_details)
		return;
	strbuf_printf(t->out, "<symboldetails  id=\"%" PRIu32 "\">\n", sym->id);
	for (uint32_t at = sym->first; at != XML_NO_ID; at = t->s->next[at]) {
		add_row_details(t, &rows[at], known ? start.file : NULL, id);
		id += rows[at].nr_hits;
	}
	strbuf_puts(t->out, "</symboldetails>\n");
}

/* ---- bytestable: a batch of symbols of one image at a time */

enum { BATCH_SYMBOLS = 65536, BATCH_BYTES = 4 << 20 };

struct batch {
	const struct xml_symbol **symbols;
	struct sym_range *ranges;
	size_t nr;
	uint64_t bytes;
};

static void batch_fini(struct batch *b)
{
	free(b->symbols);
	free(b->ranges);
}

static void add_bytes(const struct tables *t, const struct xml_symbol *sym,
		      const struct sym_code *code)
{
	static const char digits[] = "0123456789ABCDEF";
	char text[512];
	size_t len = code->range.end - code->range.off, n = 0;

	strbuf_printf(t->out, "<bytes  id=\"%" PRIu32 "\">\n", sym->id);
	for (size_t i = 0; i < len; i++) {
		text[n++] = digits[code->bytes[i] >> 4];
		text[n++] = digits[code->bytes[i] & 15];
		if (n == sizeof(text) || i + 1 == len) {
			strbuf_add(t->out, text, n);
			n = 0;
		}
	}
	strbuf_puts(t->out, "</bytes>\n");
}

/* An image whose code cannot be read has no bytes; status gives the reason. */
static int write_batch(const struct tables *t, struct batch *b)
{
	CLEANUP(sym_disasm_putp) struct sym_disasm *code = NULL;
	const struct report_job *job = t->s->job;
	struct sym_job of;
	int rc;

	if (!b->nr)
		return 0;
	of = job->p->images[b->symbols[0]->row->image].job;
	of.cred = viewer_cred(job->v);
	rc = sym_server_disasm(sym_cache_server(job->syms), &of, b->ranges, b->nr, NULL,
			       viewer_cancel(job->v), &code, t->err);
	for (size_t i = 0; !rc && i < code->nr_codes && i < b->nr; i++)
		if (code->codes[i].bytes)
			add_bytes(t, b->symbols[i], &code->codes[i]);
	b->nr = 0;
	b->bytes = 0;
	return rc == -EINTR || rc == -ENOMEM ? rc : 0;
}

static bool has_bytes(const struct tables *t, const struct xml_symbol *sym)
{
	const struct profile_row *row = sym->row;

	return sym->id != XML_NO_ID && row->sym && row->sym->size &&
	       row->sym->size <= BATCH_BYTES && t->s->job->p->images[row->image].has_job;
}

static bool fits(const struct batch *b, const struct xml_symbol *sym)
{
	return !b->nr ||
	       (b->nr < BATCH_SYMBOLS && b->bytes + sym->row->sym->size <= BATCH_BYTES &&
		b->symbols[0]->row->image == sym->row->image);
}

static int add_bytestable(const struct tables *t)
{
	CLEANUP(batch_fini) struct batch b = { 0 };
	int rc = 0;

	b.symbols = calloc(BATCH_SYMBOLS, sizeof(*b.symbols));
	b.ranges = calloc(BATCH_SYMBOLS, sizeof(*b.ranges));
	if (!b.symbols || !b.ranges)
		return report_no_memory(t->err);
	strbuf_puts(t->out, "<bytestable>\n");
	for (uint32_t i = 0; !rc && i < t->s->nr; i++) {
		const struct xml_symbol *sym = &t->s->symbols[i];
		const struct sym *of = sym->row->sym;

		if (!has_bytes(t, sym))
			continue;
		if (!fits(&b, sym))
			rc = write_batch(t, &b);
		b.ranges[b.nr] = (struct sym_range){ of->off, of->off + of->size };
		b.symbols[b.nr++] = sym;
		b.bytes += of->size;
	}
	rc = rc ? rc : write_batch(t, &b);
	strbuf_puts(t->out, "</bytestable>\n");
	return rc;
}

/* Only what is written counts. */
static bool is_wide(const struct xml_symbols *s)
{
	for (uint32_t i = 0; i < s->nr_ids; i++)
		if (profile_vma(s->symbols[s->by_id[i]].row) > UINT32_MAX)
			return true;
	return false;
}

int xml_symbols_write(struct xml_symbols *s, const struct report_lines *lines,
		      xml_add_counts *counts, void *ctx, struct strbuf *out,
		      struct err *err)
{
	const struct tables t = { .s = s,
				  .lines = lines,
				  .counts = counts,
				  .ctx = ctx,
				  .out = out,
				  .err = err,
				  .wide = is_wide(s) };
	int rc = 0;

	strbuf_puts(out, "<symboltable>\n");
	for (uint32_t i = 0; i < s->nr_ids && !rc; i++) {
		if (i + VIEW_SOON < s->nr_ids)
			__builtin_prefetch(&s->symbols[s->by_id[i + VIEW_SOON]]);
		add_symbol(&t, &s->symbols[s->by_id[i]]);
		rc = report_step(s->job, i, out, err);
	}
	if (rc)
		return rc;
	strbuf_puts(out, "</symboltable>\n");
	if (!report_with(s->job, OPTION_WITH(DETAILS)))
		return 0;
	strbuf_puts(out, "<detailtable>\n");
	for (uint32_t i = 0; i < s->nr_ids && !rc; i++) {
		add_details(&t, &s->symbols[s->by_id[i]]);
		rc = report_step(s->job, i, out, err);
	}
	if (rc)
		return rc;
	strbuf_puts(out, "</detailtable>\n");
	return s->job->syms ? add_bytestable(&t) : 0;
}
