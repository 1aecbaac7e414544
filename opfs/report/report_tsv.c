/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/hex.h"
#include "base/percent.h"
#include "opfs/report/memo.h"
#include "opfs/report/report_with.h"

/*
 * report.tsv, for programs.  Columns never change: names in the first line, tabs
 * between, bytes that would break a line or a field as %XX (and % itself as %25).  A
 * field that a row does not have is empty.  New columns are added at the end.
 */
struct cell {
	const struct view *view;
	const struct profile_row *row;
	size_t class;
	const char *event;              /* as the field has it */
	const struct line_place *place; /* NULL: not asked for, or not known */
	struct memo *share, *error;     /* of the class */
};

struct tsv_column {
	const char *title;
	bool compares; /* empty but with diff: */
	void (*add)(const struct cell *c, struct strbuf *out);
};

static void add_field(const char *text, struct strbuf *out)
{
	escape_field(out, text);
}

static void add_percent(double percent, struct strbuf *out)
{
	char text[PERCENT_MAX];

	strbuf_add(out, text, percent_format_fixed(percent, text));
}

static void add_event(const struct cell *c, struct strbuf *out)
{
	strbuf_puts(out, c->event);
}

static void add_app(const struct cell *c, struct strbuf *out)
{
	add_field(c->view->p->cat->images[c->row->app].shown, out);
}

static void add_image(const struct cell *c, struct strbuf *out)
{
	add_field(c->view->p->cat->images[c->row->image].shown, out);
}

static void add_symbol(const struct cell *c, struct strbuf *out)
{
	add_field(c->row->name, out);
}

static void add_samples(const struct cell *c, struct strbuf *out)
{
	strbuf_number(out, view_now(c->row, c->class), 0);
}

static double share(const struct cell *c)
{
	return view_share(c->view, c->row, c->class);
}

static double base_share(const struct cell *c)
{
	return view_was_share(c->view, c->row, c->class);
}

static void add_share(const struct cell *c, struct strbuf *out)
{
	memo_add(c->share, view_now(c->row, c->class), out);
}

static void add_share_error(const struct cell *c, struct strbuf *out)
{
	memo_add(c->error, view_now(c->row, c->class), out);
}

static void add_mangled(const struct cell *c, struct strbuf *out)
{
	if (c->row->sym)
		add_field(sym_name(c->row->sym), out);
}

static void add_vma(const struct cell *c, struct strbuf *out)
{
	if (c->row->sym) {
		strbuf_puts(out, "0x");
		hex_add_number(out, c->row->vma, 0, '0');
	}
}

static void add_file(const struct cell *c, struct strbuf *out)
{
	if (c->place)
		add_field(c->place->file, out);
}

static void add_line(const struct cell *c, struct strbuf *out)
{
	if (c->place && c->place->line)
		strbuf_printf(out, "%" PRIu32, c->place->line);
}

static void add_number(int64_t n, struct strbuf *out)
{
	if (n != SPEC_ALL)
		strbuf_printf(out, "%" PRId64, n);
}

static void add_tgid(const struct cell *c, struct strbuf *out)
{
	add_number(c->view->p->classes[c->class].tgid, out);
}

static void add_tid(const struct cell *c, struct strbuf *out)
{
	add_number(c->view->p->classes[c->class].tid, out);
}

static void add_cpu(const struct cell *c, struct strbuf *out)
{
	add_number(c->view->p->classes[c->class].cpu, out);
}

static void add_base_samples(const struct cell *c, struct strbuf *out)
{
	strbuf_number(out, view_was(c->row, c->class), 0);
}

static void add_base_share(const struct cell *c, struct strbuf *out)
{
	add_percent(base_share(c), out);
}

static void add_difference(const struct cell *c, struct strbuf *out)
{
	add_percent(share(c) - base_share(c), out);
}

static void add_sure(const struct cell *c, struct strbuf *out)
{
	strbuf_putc(out, view_sure(c->view, c->row, c->class) ? '1' : '0');
}

static const struct tsv_column columns[] = {
	{ "event", false, add_event },
	{ "application", false, add_app },
	{ "image", false, add_image },
	{ "symbol", false, add_symbol },
	{ "samples", false, add_samples },
	{ "share", false, add_share },
	{ "share_error", false, add_share_error },
	{ "mangled", false, add_mangled },
	{ "vma", false, add_vma },
	{ "file", false, add_file },
	{ "line", false, add_line },
	{ "tgid", false, add_tgid },
	{ "tid", false, add_tid },
	{ "cpu", false, add_cpu },
	{ "base_samples", true, add_base_samples },
	{ "base_share", true, add_base_share },
	{ "difference", true, add_difference },
	{ "sure", true, add_sure },
};

#define NR_COLUMNS (sizeof(columns) / sizeof(columns[0]))

static void add_row(const struct cell *c, struct strbuf *out)
{
	for (size_t i = 0; i < NR_COLUMNS; i++) {
		if (i)
			strbuf_putc(out, '\t');
		if (!columns[i].compares || c->view->p->base)
			columns[i].add(c, out);
	}
	strbuf_putc(out, '\n');
}

static void add_titles(struct strbuf *out)
{
	for (size_t i = 0; i < NR_COLUMNS; i++)
		strbuf_printf(out, "%s%s", i ? "\t" : "", columns[i].title);
	strbuf_putc(out, '\n');
}

static size_t format_share(uint64_t samples, uint64_t total, char out[PERCENT_MAX])
{
	return percent_format_fixed(percent_of(samples, total), out);
}

static size_t format_error(uint64_t samples, uint64_t total, char out[PERCENT_MAX])
{
	return percent_format_fixed(percent_error(samples, total), out);
}

static int add_class(const struct report_job *job, const struct view *view, size_t class,
		     const struct report_lines *lines, struct strbuf *out,
		     struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf event = { 0 }, plain = { 0 };
	struct memo share = { .format = format_share, .ctx = view->totals[class] };
	struct memo error = { .format = format_error, .ctx = view->totals[class] };
	struct cell cell = {
		.view = view, .class = class, .share = &share, .error = &error
	};
	struct line_place at;

	report_event(&view->p->classes[class], &plain);
	escape_add(&event, strbuf_str(&plain), plain.len, escape_plain_field);
	if (strbuf_error(&event) || strbuf_error(&plain))
		return report_no_memory(err);
	cell.event = strbuf_str(&event);
	for (size_t i = 0; i < view->nr_rows; i++) {
		int rc = report_step(job, i, out, err);

		if (rc)
			return rc;
		cell.row = view_row(view, i);
		if (i + VIEW_SOON / 2 < view->nr_rows &&
		    view->rows[i + VIEW_SOON / 2]->sym)
			__builtin_prefetch(sym_name(view->rows[i + VIEW_SOON / 2]->sym));
		if (!view_now(cell.row, class) && !view_was(cell.row, class))
			continue;
		cell.place = report_line_of_row(lines, cell.row, &at) ? &at : NULL;
		add_row(&cell, out);
	}
	return 0;
}

static int render_tsv(const struct report_job *job, struct strbuf *out, struct err *err)
{
	CLEANUP(view_fini) struct view view = { 0 };
	CLEANUP(report_lines_fini) struct report_lines lines = { 0 };
	const struct profile *p = job->p;
	struct view_options how;
	int rc;

	rc = report_lines_load(job, &lines, &how, err);
	if (rc)
		return rc;
	if (view_init(&view, p, &how))
		return report_no_memory(err);
	add_titles(out);
	for (size_t c = 0; c < p->nr_classes; c++) {
		rc = add_class(job, &view, c, &lines, out, err);
		if (rc)
			return rc;
	}
	return report_done(out, err);
}

const struct report report_tsv = {
	.name = "report.tsv",
	.doc = "the same for programs: event, application, image, symbol, samples, share "
	       "...",
	.needs = PROFILE_SYMBOLS,
	.inlines = true,
	.tags = REPORT_TAGS_ROWS | OPTION_TAG(SORT) | OPTION_TAG(DIFF),
	.words = REPORT_WORDS_ROWS | OPTION_WITH(DEBUG_INFO) | OPTION_WITH(INLINES),
	.render = render_tsv,
};
