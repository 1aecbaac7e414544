/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/column.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/hex.h"
#include "base/percent.h"
#include "opfs/profile/change.h"
#include "opfs/report/header.h"

enum { PART_MEMOS = 8 };

struct column_at {
	const struct column_table *t;
	const struct view *v;
	const struct profile_row *row;
	const struct column_part *part; /* NULL: the whole row */
	size_t class;
};

struct column {
	const char *title;
	enum column_kind kind;
	unsigned width;
	bool (*wanted)(const struct view *v); /* NULL: always */
	void (*add)(const struct column_at *at, struct strbuf *out);
};

static uint64_t samples_of(const struct column_at *at)
{
	return (at->part ? at->part->samples : at->row->samples)[at->class];
}

static uint64_t total_of(const struct column_at *at)
{
	return (at->part ? at->part->totals : at->v->totals)[at->class];
}

static uint64_t cumulated_of(const struct column_at *at)
{
	return (at->part ? at->part->cumulated : at->t->cumulated)[at->class];
}

static uint64_t children_of(const struct column_at *at)
{
	const uint64_t *all = profile_children(at->row, at->v->p->nr_classes);

	return all ? all[at->class] : 0;
}

static bool wants_vma(const struct view *v)
{
	return v->options.show_address;
}

static bool wants_cumulated(const struct view *v)
{
	return v->options.accumulated;
}

static bool wants_diff(const struct view *v)
{
	return v->p->base != NULL;
}

static bool wants_children(const struct view *v)
{
	return v->options.children;
}

static bool wants_lines(const struct view *v)
{
	return v->options.show_lines;
}

static bool wants_image(const struct view *v)
{
	return v->show_image;
}

static bool wants_app(const struct view *v)
{
	return v->show_app;
}

static void add_percent(uint64_t part, uint64_t whole, struct strbuf *out)
{
	char text[PERCENT_MAX];

	strbuf_add(out, text, percent_format(percent_of(part, whole), text));
}

static void add_vma(const struct column_at *at, struct strbuf *out)
{
	const struct column_place *place = at->part ? at->part->place : NULL;
	uint64_t vma = place ? place->vma : profile_vma(at->row);

	hex_add_number(out, vma, at->v->wide_vma ? 16 : 8, '0');
}

static void add_samples(const struct column_at *at, struct strbuf *out)
{
	strbuf_number(out, samples_of(at), 0);
}

static void add_children(const struct column_at *at, struct strbuf *out)
{
	strbuf_number(out, children_of(at), 0);
}

static void add_children_share(const struct column_at *at, struct strbuf *out)
{
	add_percent(children_of(at), view_whole(at->v, at->class), out);
}

static void add_cumulated(const struct column_at *at, struct strbuf *out)
{
	strbuf_number(out, cumulated_of(at), 0);
}

/* Most places have few samples of few. */
static void add_part(const struct column_at *at, struct strbuf *out)
{
	struct memo *m = at->t->parts;
	uint64_t part = samples_of(at), whole = total_of(at);

	if (part > UINT32_MAX || whole > UINT32_MAX)
		add_percent(part, whole, out);
	else
		memo_add(&m[(part ^ whole >> 4) % PART_MEMOS], part << 32 | whole, out);
}

static void add_share(const struct column_at *at, struct strbuf *out)
{
	if (at->row->gone)
		strbuf_puts(out, "---");
	else if (at->part)
		add_part(at, out);
	else
		memo_add(&at->t->shares[at->class], at->row->samples[at->class], out);
}

/* opreport's "diff %": the change of the share in percent of what it was. */
static void add_diff(const struct column_at *at, struct strbuf *out)
{
	const struct profile_row *row = at->row;
	char text[PERCENT_MAX];

	profile_change_format(profile_changed(row->samples, row->was, row->gone,
					      at->class),
			      view_growth(at->v, row, at->class), text);
	strbuf_puts(out, text);
}

static void add_sure(const struct column_at *at, struct strbuf *out)
{
	strbuf_puts(out, view_sure(at->v, at->row, at->class) ? "yes" : "no");
}

static void add_cumulated_share(const struct column_at *at, struct strbuf *out)
{
	if (at->row->gone) {
		strbuf_puts(out, "---");
		return;
	}
	add_percent(cumulated_of(at), total_of(at), out);
}

static void add_lines(const struct column_at *at, struct strbuf *out)
{
	const struct lines *lines = at->v->options.lines;
	struct line_place place;
	bool known = lines && lines_of_row(lines, at->row, &place);

	if (at->part && at->part->place)
		view_place(&at->v->options, at->part->place->line, out);
	else
		view_place(&at->v->options, known ? &place : NULL, out);
}

/* As many rows have the same. */
static void add_name(const struct column_at *at, uint32_t image, struct strbuf *out)
{
	struct strbuf *name = &at->t->names[image];

	if (!name->len)
		escape_text(name, view_image_name(at->v->p, &at->v->options, image));
	strbuf_add(out, name->data, name->len);
	out->failed |= name->failed;
}

static void add_image(const struct column_at *at, struct strbuf *out)
{
	add_name(at, at->row->image, out);
}

static void add_app(const struct column_at *at, struct strbuf *out)
{
	add_name(at, at->row->app, out);
}

static void add_symbol(const struct column_at *at, struct strbuf *out)
{
	escape_text(out, at->row->name);
	if (at->part && at->part->suffix)
		strbuf_puts(out, at->part->suffix);
}

/* Widths are opreport's; a class repeats the middle group. */
static const struct column before[] = {
	{ "vma", COLUMN_NUMBER, 9, wants_vma, add_vma },
};
static const struct column of_class[] = {
	{ "total", COLUMN_NUMBER, 9, wants_children, add_children },
	{ "%", COLUMN_NUMBER, 9, wants_children, add_children_share },
	{ "samples", COLUMN_NUMBER, 9, NULL, add_samples },
	{ "cum. samples", COLUMN_NUMBER, 14, wants_cumulated, add_cumulated },
	{ "%", COLUMN_NUMBER, 9, NULL, add_share },
	{ "cum. %", COLUMN_NUMBER, 11, wants_cumulated, add_cumulated_share },
	{ "diff %", COLUMN_NUMBER, 10, wants_diff, add_diff },
	{ "sure", COLUMN_NUMBER, 5, wants_diff, add_sure },
};
static const struct column source[] = {
	{ "linenr info", COLUMN_PLACE, 28, wants_lines, add_lines },
};
static const struct column after[] = {
	/* the same for every place in a row */
	{ "image name", COLUMN_IMAGE, 25, wants_image, add_image },
	{ "app name", COLUMN_APP, 25, wants_app, add_app },
	{ "symbol name", COLUMN_SYMBOL, 30, NULL, add_symbol },
};

#define NR(array) (sizeof(array) / sizeof((array)[0]))

enum group { BEFORE, OF_CLASS, SOURCE, AFTER };

static const struct {
	const struct column *columns;
	unsigned nr;
} groups[COLUMN_NR_GROUPS] = {
	[BEFORE] = { before, NR(before) },
	[OF_CLASS] = { of_class, NR(of_class) },
	[SOURCE] = { source, NR(source) },
	[AFTER] = { after, NR(after) },
};

/* A line in the making: @gap blanks are due before the next field. */
struct line {
	struct strbuf *out;
	size_t gap;
};

/* @at->row NULL: the titles. */
static void add_columns(struct line *line, enum group g, const struct column_at *at)
{
	for (unsigned left = at->t->wanted[g]; left; left &= left - 1) {
		const struct column *col = &groups[g].columns[__builtin_ctz(left)];
		size_t start, len;

		strbuf_fill(line->out, ' ', line->gap);
		start = line->out->len;
		if (at->row)
			col->add(at, line->out);
		else
			strbuf_puts(line->out, col->title);
		len = line->out->len - start;
		line->gap = len < col->width ? col->width - len : 1;
	}
}

static void add_line(const struct column_table *t, const struct profile_row *row,
		     const struct column_part *part, struct strbuf *out)
{
	struct column_at at = { .t = t, .v = t->v, .row = row, .part = part };
	struct line line = { .out = out };

	add_columns(&line, BEFORE, &at);
	for (at.class = 0; at.class < t->v->p->nr_classes; at.class ++)
		add_columns(&line, OF_CLASS, &at);
	add_columns(&line, SOURCE, &at);
	if (!part || !part->place)
		add_columns(&line, AFTER, &at);
	strbuf_putc(out, '\n');
}

static unsigned wanted_columns(enum group g, const struct view *v)
{
	unsigned wanted = 0;

	for (unsigned i = 0; i < groups[g].nr; i++)
		if (!groups[g].columns[i].wanted || groups[g].columns[i].wanted(v))
			wanted |= 1u << i;
	return wanted;
}

static size_t format_part(uint64_t n, uint64_t ctx, char out[PERCENT_MAX])
{
	(void)ctx;
	return percent_format(percent_of(n >> 32, n & UINT32_MAX), out);
}

static size_t format_share(uint64_t samples, uint64_t total, char out[PERCENT_MAX])
{
	return percent_format(percent_of(samples, total), out);
}

int column_table_init(struct column_table *t, const struct view *v)
{
	size_t nr = v->p->nr_classes;

	*t = (struct column_table){
		.v = v,
		.cumulated = calloc(nr + 1, sizeof(*t->cumulated)),
		.shares = calloc(nr + 1, sizeof(*t->shares)),
		.parts = calloc(PART_MEMOS, sizeof(*t->parts)),
		.names = calloc(v->p->cat->nr_images + 1, sizeof(*t->names)),
	};
	if (!t->cumulated || !t->shares || !t->parts || !t->names) {
		column_table_fini(t);
		return -ENOMEM;
	}
	for (int g = 0; g < COLUMN_NR_GROUPS; g++)
		t->wanted[g] = wanted_columns((enum group)g, v);
	for (int i = 0; i < PART_MEMOS; i++)
		t->parts[i].format = format_part;
	for (size_t c = 0; c < nr; c++) {
		t->shares[c].format = format_share;
		t->shares[c].ctx = v->totals[c];
	}
	return 0;
}

void column_table_fini(struct column_table *t)
{
	for (size_t i = 0; t->names && i < t->v->p->cat->nr_images; i++)
		strbuf_fini(&t->names[i]);
	free(t->names);
	free(t->cumulated);
	free(t->shares);
	free(t->parts);
	*t = (struct column_table){ 0 };
}

static size_t group_width(const struct column_table *t, enum group g)
{
	size_t width = 0;

	for (unsigned left = t->wanted[g]; left; left &= left - 1)
		width += groups[g].columns[__builtin_ctz(left)].width;
	return width;
}

/* What each class counts, over its columns; they are not that narrow that a title of a
 * summary would not fit. */
static void add_classes(const struct column_table *t, struct strbuf *out)
{
	const struct view *v = t->v;
	size_t width = group_width(t, OF_CLASS);
	char title[HEADER_TITLE_MAX + 1];

	strbuf_fill(out, ' ', group_width(t, BEFORE));
	for (size_t c = 0; c < v->p->nr_classes; c++) {
		bool last = c + 1 == v->p->nr_classes;

		header_title(v->p, c, title);
		strbuf_printf(out, "%-*s", last ? 0 : (int)width, title);
	}
	strbuf_putc(out, '\n');
}

void column_titles(const struct column_table *t, struct strbuf *out)
{
	if (t->v->p->nr_classes > 1)
		add_classes(t, out);
	add_line(t, NULL, NULL, out);
}

void column_row(struct column_table *t, const struct profile_row *row, struct strbuf *out)
{
	for (size_t c = 0; c < t->v->p->nr_classes; c++)
		t->cumulated[c] += row->gone ? 0 : row->samples[c];
	add_line(t, row, NULL, out);
}

void column_part(struct column_table *t, const struct column_part *part,
		 struct strbuf *out)
{
	for (size_t c = 0; c < t->v->p->nr_classes; c++)
		part->cumulated[c] += part->samples[c];
	strbuf_puts(out, "  ");
	add_line(t, part->row, part, out);
}

/* ---- the other way round */

/* The column whose title begins at line[at]; NULL: none. */
static const struct column *titled(const char *line, size_t len, size_t at)
{
	for (size_t g = 0; g < COLUMN_NR_GROUPS; g++)
		for (size_t i = 0; i < groups[g].nr; i++) {
			const struct column *col = &groups[g].columns[i];
			size_t title = strlen(col->title), end = at + col->width;

			if (title > len - at || memcmp(line + at, col->title, title) != 0)
				continue;
			for (at += title; at < len && at < end && line[at] == ' ';)
				at++;
			return at == len || at == end ? col : NULL;
		}
	return NULL;
}

bool column_read_titles(const char *line, size_t len, struct column_layout *out)
{
	const struct column *col = NULL;

	out->nr = 0;
	for (size_t at = 0; at < len; at += col->width) {
		col = titled(line, len, at);
		if (!col || out->nr == COLUMN_MAX_CELLS)
			return false;
		out->cells[out->nr++] = (struct column_cell){
			.kind = col->kind,
			.start = at,
			.len = strlen(col->title),
			.width = col->width,
		};
	}
	return col && col->kind == COLUMN_SYMBOL;
}

/* Behind the last byte of the cell that begins at line[at]; @next: where the next one
 * begins.  A longer field than the column's pushes the rest: it ends at a blank. */
static size_t end_of_cell(const char *line, size_t len, size_t at, size_t width,
			  size_t *next)
{
	size_t end = at + width;

	if (end >= len) {
		*next = end = len;
	} else if (line[end - 1] == ' ') {
		*next = end;
	} else {
		while (end < len && line[end] != ' ')
			end++;
		*next = end < len ? end + 1 : len;
	}
	while (end > at && line[end - 1] == ' ')
		end--;
	return end;
}

size_t column_read_row(const struct column_layout *layout, const char *line, size_t len,
		       struct column_cell *out)
{
	size_t at = len >= 2 && line[0] == ' ' && line[1] == ' ' ? 2 : 0, nr = 0, end;

	for (; nr < layout->nr && at < len; nr++) {
		out[nr] = layout->cells[nr];
		out[nr].start = at;
		end = out[nr].kind == COLUMN_SYMBOL
			      ? len
			      : end_of_cell(line, len, at, out[nr].width, &at);
		out[nr].len = end - out[nr].start;
	}
	return nr;
}
