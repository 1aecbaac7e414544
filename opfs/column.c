/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/column.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "opfs/percent.h"

/* Long tables end in thousands of rows with equal counts: their share is kept. */
struct column_share {
	uint64_t samples;
	bool known;
	char text[PERCENT_MAX];
};

struct column_at {
	const struct column_table *t;
	const struct view *v;
	const struct profile_row *row;
	size_t class;
};

struct column {
	const char *title;
	unsigned width;
	bool (*wanted)(const struct view *v); /* NULL: always */
	void (*add)(const struct column_at *at, struct strbuf *out);
};

static bool wants_vma(const struct view *v)
{
	return v->options.show_address;
}

static bool wants_cumulated(const struct view *v)
{
	return v->options.accumulated;
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

	percent_format(percent_of(part, whole), text);
	strbuf_puts(out, text);
}

static void add_vma(const struct column_at *at, struct strbuf *out)
{
	strbuf_printf(out, "%0*" PRIx64, at->v->wide_vma ? 16 : 8, at->row->vma);
}

static void add_number(uint64_t n, struct strbuf *out)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	strbuf_add(out, digits + at, sizeof(digits) - at);
}

static void add_samples(const struct column_at *at, struct strbuf *out)
{
	add_number(at->row->samples[at->class], out);
}

static void add_cumulated(const struct column_at *at, struct strbuf *out)
{
	add_number(at->t->cumulated[at->class], out);
}

static void add_share(const struct column_at *at, struct strbuf *out)
{
	struct column_share *s = &at->t->shares[at->class];
	uint64_t samples = at->row->samples[at->class];

	if (!s->known || s->samples != samples) {
		percent_format(percent_of(samples, at->v->totals[at->class]), s->text);
		s->samples = samples;
		s->known = true;
	}
	strbuf_puts(out, s->text);
}

static void add_cumulated_share(const struct column_at *at, struct strbuf *out)
{
	add_percent(at->t->cumulated[at->class], at->v->totals[at->class], out);
}

static void add_image(const struct column_at *at, struct strbuf *out)
{
	view_text(view_image_name(at->v->p, &at->v->options, at->row->image), out);
}

static void add_app(const struct column_at *at, struct strbuf *out)
{
	view_text(view_image_name(at->v->p, &at->v->options, at->row->app), out);
}

static void add_symbol(const struct column_at *at, struct strbuf *out)
{
	view_text(at->row->name, out);
}

/* Widths are opreport's; a class repeats the middle group. */
static const struct column before[] = {
	{ "vma", 9, wants_vma, add_vma },
};
static const struct column of_class[] = {
	{ "samples", 9, NULL, add_samples },
	{ "cum. samples", 14, wants_cumulated, add_cumulated },
	{ "%", 9, NULL, add_share },
	{ "cum. %", 11, wants_cumulated, add_cumulated_share },
};
static const struct column after[] = {
	{ "image name", 25, wants_image, add_image },
	{ "app name", 25, wants_app, add_app },
	{ "symbol name", 30, NULL, add_symbol },
};

/* A line being laid out: @gap blanks are due before the next field. */
struct line {
	struct strbuf *out;
	size_t gap;
};

/* @at->row NULL: the titles. */
static void add_columns(struct line *line, const struct column *cols, size_t nr,
			const struct column_at *at)
{
	for (size_t i = 0; i < nr; i++) {
		const struct column *col = &cols[i];
		size_t start, len;

		if (col->wanted && !col->wanted(at->v))
			continue;
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

#define NR(array) (sizeof(array) / sizeof((array)[0]))

static void add_line(const struct column_table *t, const struct profile_row *row,
		     struct strbuf *out)
{
	struct column_at at = { .t = t, .v = t->v, .row = row };
	struct line line = { .out = out };

	add_columns(&line, before, NR(before), &at);
	for (at.class = 0; at.class < t->v->p->nr_classes; at.class++)
		add_columns(&line, of_class, NR(of_class), &at);
	add_columns(&line, after, NR(after), &at);
	strbuf_putc(out, '\n');
}

int column_table_init(struct column_table *t, const struct view *v)
{
	size_t nr = v->p->nr_classes;

	*t = (struct column_table){
		.v = v,
		.cumulated = calloc(nr + 1, sizeof(*t->cumulated)),
		.shares = calloc(nr + 1, sizeof(*t->shares)),
	};
	if (t->cumulated && t->shares)
		return 0;
	column_table_fini(t);
	return -ENOMEM;
}

void column_table_fini(struct column_table *t)
{
	free(t->cumulated);
	free(t->shares);
	*t = (struct column_table){ 0 };
}

void column_titles(const struct column_table *t, struct strbuf *out)
{
	add_line(t, NULL, out);
}

void column_row(struct column_table *t, const struct profile_row *row, struct strbuf *out)
{
	for (size_t c = 0; c < t->v->p->nr_classes; c++)
		t->cumulated[c] += row->samples[c];
	add_line(t, row, out);
}
