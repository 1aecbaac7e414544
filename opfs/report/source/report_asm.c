/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/hex.h"
#include "opfs/report/report.h"
#include "opfs/report/source/annotate.h"
#include "opfs/report/source/asm.h"
#include "opfs/report/source/asm_source.h"

struct asm_text {
	const struct report_job *job;
	const struct profile *p;
	struct sources columns; /* what prefixes are made from: classes and totals */
	struct strbuf *out;
	struct strbuf fill;        /* before lines without samples: blanks and ":" */
	struct asm_source *source; /* NULL: no source lines */
	uint64_t *sum;             /* one a class: samples of the line under way */
	size_t *at; /* for each row of the unit: its first hit that was not shown yet */
	size_t nr_at;
	uint32_t image; /* of the last unit */
	size_t width;   /* of addresses in the unit */
};

/* ---- parts of lines */

static void add_plain(const struct asm_text *t, const char *text)
{
	strbuf_add(t->out, t->fill.data, t->fill.len);
	escape_text(t->out, text);
	strbuf_putc(t->out, '\n');
}

static void add_line(const struct asm_text *t, bool hit, uint64_t vma, const char *text)
{
	if (hit)
		annotate_prefix(&t->columns, t->sum, t->out);
	else
		strbuf_add(t->out, t->fill.data, t->fill.len);
	hex_add_number(t->out, vma, t->width, ' ');
	strbuf_add(t->out, ":\t", 2);
	strbuf_puts(t->out, text);
	strbuf_putc(t->out, '\n');
}

/* ---- samples of a unit, by offset */

/* The lowest offset with samples that were not shown yet, and the row that has it. */
static uint64_t next_hit(const struct asm_text *t, const struct asm_unit *u, size_t *row)
{
	uint64_t off = UINT64_MAX;

	*row = 0;
	for (size_t i = 0; i < u->nr_rows; i++) {
		const struct profile_row *r = u->rows[i];

		if (t->at[i] >= r->nr_hits || r->hits[t->at[i]] >= off)
			continue;
		off = r->hits[t->at[i]];
		*row = i;
	}
	return off;
}

/* Sums the samples before @end. */
static void take_hits(struct asm_text *t, const struct asm_unit *u, uint64_t end)
{
	size_t nr_classes = t->p->nr_classes;

	memset(t->sum, 0, nr_classes * sizeof(*t->sum));
	for (size_t i = 0; i < u->nr_rows; i++) {
		const struct profile_row *r = u->rows[i];

		for (; t->at[i] < r->nr_hits && r->hits[t->at[i]] < end; t->at[i]++)
			for (size_t c = 0; c < nr_classes; c++)
				t->sum[c] +=
					profile_hit_samples(r, t->at[i], nr_classes)[c];
	}
}

/* Shows samples before @end that are in no instruction. */
static void add_bare_hits(struct asm_text *t, const struct asm_unit *u, uint64_t end)
{
	uint64_t off, vma;
	size_t row;

	while ((off = next_hit(t, u, &row)) < end) {
		vma = profile_hit_vma(t->p, u->rows[row], t->at[row]);
		take_hits(t, u, off + 1);
		add_line(t, true, vma, "(no code)");
	}
}

/* ---- units */

/* The number of digits of addresses in objdump, for a section that ends at @end. */
static size_t address_width(uint64_t end)
{
	size_t zeros = 0;

	while (zeros < 16 && !(end >> (60 - 4 * zeros) & 15))
		zeros++;
	return 16 - (zeros ? (zeros - 1) & ~(size_t)3 : 0);
}

static void add_code(struct asm_text *t, const struct asm_unit *u,
		     const struct sym_code *code, uint64_t *next)
{
	size_t row;

	for (size_t i = 0; i < code->nr_insns; i++) {
		const struct sym_insn *insn = &code->insns[i];
		uint64_t end = insn->off + insn->len;
		bool hit;

		if (*next < insn->off) {
			add_bare_hits(t, u, insn->off);
			*next = next_hit(t, u, &row);
		}
		if (t->source)
			asm_source_lines(t->source, insn->off, &t->fill, t->out);
		hit = *next < end;
		if (hit) {
			take_hits(t, u, end);
			*next = next_hit(t, u, &row);
		}
		add_line(t, hit, insn->vma, insn->text);
	}
}

static void add_codes(struct asm_text *t, const struct asm_unit *u)
{
	const struct sym_code *codes = u->code->codes + u->first_code;
	size_t row;
	uint64_t next = next_hit(t, u, &row);

	for (size_t i = 0; i < u->nr_ranges; i++) {
		if (i && codes[i].range.off != codes[i - 1].range.end)
			add_plain(t, "...");
		add_code(t, u, &codes[i], &next);
	}
}

/* Names the image of the functions that follow. */
static void add_image(struct asm_text *t, uint32_t image)
{
	if (t->image == image)
		return;
	t->image = image;
	strbuf_add(t->out, t->fill.data, t->fill.len);
	escape_text(t->out, t->p->cat->images[image].shown);
	strbuf_puts(t->out, ":\n");
	add_plain(t, "");
}

/* "0000000000001250 <crunch>: " before the total of the unit. */
static void add_title(const struct asm_text *t, const struct asm_unit *u)
{
	const struct profile_row *row = u->rows[0];

	if (row->sym) {
		hex_add_number(t->out, profile_vma(row), 16, '0');
		strbuf_puts(t->out, " <");
		escape_text(t->out, sym_name(row->sym));
		strbuf_puts(t->out, ">: ");
	}
	strbuf_puts(t->out, "/* ");
	annotate_text(row->name, t->out);
	strbuf_puts(t->out, " total: ");
	annotate_counts(&t->columns, u->samples, t->out);
	strbuf_puts(t->out, " */\n");
}

/* The highest address that the unit shows. */
static uint64_t end_of(const struct profile *p, const struct asm_unit *u)
{
	uint64_t end = profile_vma(u->rows[0]);

	for (size_t i = 0; !asm_reason(u, p) && i < u->nr_ranges; i++) {
		const struct sym_code *c = &u->code->codes[u->first_code + i];
		uint64_t to = c->vma + (c->range.end - c->range.off);

		end = to > end ? to : end;
	}
	for (size_t i = 0; i < u->nr_rows; i++) {
		size_t nr = u->rows[i]->nr_hits;
		uint64_t last = nr ? profile_hit_vma(p, u->rows[i], nr - 1) : 0;

		end = last > end ? last : end;
	}
	return end;
}

static void add_unit(struct asm_text *t, const struct asm_unit *u)
{
	const char *reason = asm_reason(u, t->p);

	memset(t->at, 0, u->nr_rows * sizeof(*t->at));
	t->width = address_width(end_of(t->p, u));
	add_plain(t, "");
	add_image(t, u->rows[0]->image);
	add_title(t, u);
	if (reason) {
		strbuf_add(t->out, t->fill.data, t->fill.len);
		strbuf_puts(t->out, "no code: ");
		escape_text(t->out, reason);
		strbuf_putc(t->out, '\n');
	} else {
		if (!u->rows[0]->sym)
			add_plain(t, "outside every symbol: the code around each sample; "
				     "before it the first line may begin inside an "
				     "instruction");
		if (t->source)
			asm_source_begin(t->source, u->rows[0]->image);
		add_codes(t, u);
	}
	add_bare_hits(t, u, UINT64_MAX);
}

/* ---- the file */

static int make_room(struct asm_text *t, const struct view *view,
		     const struct asm_units *units)
{
	size_t nr = 1;

	t->columns = (struct sources){ .nr_classes = t->p->nr_classes,
				       .totals = view->totals };
	for (size_t i = 0; i < units->nr; i++)
		if (units->units[i].nr_rows > nr)
			nr = units->units[i].nr_rows;
	t->at = calloc(nr, sizeof(*t->at));
	t->sum = calloc(t->p->nr_classes + 1, sizeof(*t->sum));
	annotate_prefix(&t->columns, NULL, &t->fill);
	return t->at && t->sum ? strbuf_error(&t->fill) : -ENOMEM;
}

static void text_fini(struct asm_text *t)
{
	strbuf_fini(&t->fill);
	asm_source_free(t->source);
	free(t->at);
	free(t->sum);
}

static void add_header(const struct asm_text *t)
{
	strbuf_puts(t->out, "/* \n * Path: ");
	annotate_text(t->job->path, t->out);
	strbuf_puts(t->out, "/asm\n * \n * Interpretation of path:\n"
			    " * Output annotated assembly listing with samples\n");
	if (t->job->o->syntax && *t->job->o->syntax) {
		strbuf_puts(t->out, " * Options of the disassembler: ");
		annotate_text(t->job->o->syntax, t->out);
		strbuf_putc(t->out, '\n');
	}
	strbuf_puts(t->out, " * \n");
	annotate_classes(t->job, t->out);
	strbuf_puts(t->out, " */\n");
}

static int add_window(struct asm_text *t, const struct asm_window *w,
		      const struct asm_units *units, struct err *err)
{
	int rc = 0;

	if (t->job->o->source)
		rc = asm_source_load(t->job, units->units + w->first, w->end - w->first,
				     &t->source, err);
	for (size_t i = w->first; i < w->end && !rc; i++) {
		if (viewer_gone(t->job->v))
			return report_interrupted(err);
		add_unit(t, &units->units[i]);
	}
	return rc;
}

static int render_asm(const struct report_job *job, struct strbuf *out, struct err *err)
{
	CLEANUP(view_fini) struct view view = { 0 };
	CLEANUP(asm_units_fini) struct asm_units units = { 0 };
	CLEANUP(asm_window_fini) struct asm_window window = { 0 };
	CLEANUP(text_fini)
	struct asm_text text = {
		.job = job, .p = job->p, .out = out, .image = UINT32_MAX
	};
	struct view_options options = job->o->view;
	int rc;

	if (report_nothing(job->p, out))
		return report_done(out, err);
	options.threshold = 0; /* asked of functions, not of rows */
	if (view_init(&view, job->p, &options) ||
	    asm_units_make(&units, &view, job->o->view.threshold) ||
	    make_room(&text, &view, &units))
		return report_no_memory(err);
	if (!job->o->view.no_header)
		add_header(&text);
	while ((rc = asm_window_next(&window, &units, job, err)) > 0) {
		rc = add_window(&text, &window, &units, err);
		if (rc)
			break;
	}
	return rc ? rc : report_done(out, err);
}

static bool shows_source(const struct options *o)
{
	return o->source;
}

const struct report report_asm = {
	.name = "asm",
	.doc = "annotated assembly, as opannotate --assembly",
	.names_path = true,
	.more = true,
	.symbol = true,
	.needs = PROFILE_HITS,
	.tags = REPORT_TAGS_ROWS | OPTION_TAG(SYNTAX) | OPTION_TAG(SEARCH_DIRS) |
		OPTION_TAG(BASE_DIRS),
	.words = OPTION_WITH(EXCLUDE_DEPENDENT) | OPTION_WITH(NO_HEADER) |
		 OPTION_WITH(SOURCE),
	.outside = shows_source,
	.check = annotate_check,
	.render = render_asm,
};
