/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/cli/fit.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/terminal.h"

enum {
	MAX_CELLS = 64,
	TAB = 8,
	GAP = 2,         /* between columns */
	MIN_WORD = 12,   /* columns that are left of a word which is cut */
	MAX_LINE = 8192, /* bytes of which each word is looked at */
	MIN_LAST = 24,   /* the same of the last cell, which is what a row is about */
};
#define ELLIPSIS "\xe2\x80\xa6"
#define LARGE_SHARE 5.0 /* percent; as perf has them */
#define SMALL_SHARE 0.5
#define RED "\033[1;31m"
#define GREEN "\033[32m"
#define PLAIN "\033[m"

/* ---- columns of the terminal */

static unsigned columns_at(const char *s, size_t left, size_t *len)
{
	int width = terminal_width(s, left, len);

	return width < 0 ? 1 : (unsigned)width; /* a "?" */
}

static unsigned width_of(const char *s, size_t len)
{
	unsigned width = 0;

	for (size_t n; len; s += n, len -= n)
		width += columns_at(s, len, &n);
	return width;
}

/* Bytes of the characters that take up to @columns from @s on. */
static size_t bytes_in(const char *s, size_t len, unsigned columns)
{
	size_t at = 0, n;

	while (at < len) {
		unsigned w = columns_at(s + at, len - at, &n);

		if (w > columns)
			break;
		columns -= w;
		at += n;
	}
	return at;
}

/* The middle of @len bytes at @at gives way until they take @columns. */
static void cut(struct strbuf *line, size_t at, size_t len, unsigned columns)
{
	CLEANUP(strbuf_fini) struct strbuf made = { 0 };
	const char *s = line->data + at;
	unsigned all = width_of(s, len), rest = columns - 1 - (columns - 1) / 2;
	size_t head = bytes_in(s, len, (columns - 1) / 2);
	size_t tail = bytes_in(s, len, all - rest);

	while (tail < len && width_of(s + tail, len - tail) > rest) {
		size_t n;

		terminal_width(s + tail, len - tail, &n);
		tail += n;
	}
	strbuf_add(&made, line->data, at + head);
	strbuf_puts(&made, ELLIPSIS);
	strbuf_add(&made, s + tail, line->len - at - tail);
	if (strbuf_error(&made))
		return;
	strbuf_reset(line);
	strbuf_add(line, made.data, made.len);
}

/* ---- tables */

/* The columns of a table, by its line of titles, which two blanks divide. */
struct table {
	size_t nr, at[MAX_CELLS]; /* where a title begins */
	size_t widest[MAX_CELLS]; /* bytes of the longest cell */
	bool narrow;              /* names of images get no more columns than needed */
	size_t image, app;        /* which titles these are; nr: there is none */
};

static bool is_title(const char *line, const struct table *t, size_t i, const char *name)
{
	return !strncmp(line + t->at[i], name, strlen(name));
}

/* If the line is one of titles. */
static void read_titles(const char *line, struct table *t)
{
	struct table read = { 0 };
	bool named = false;

	for (size_t i = 0; line[i] && read.nr < MAX_CELLS; i++)
		if (line[i] != ' ' &&
		    (!i || (line[i - 1] == ' ' && i > 1 && line[i - 2] == ' ')))
			read.at[read.nr++] = i;
	read.image = read.app = read.nr;
	for (size_t i = 0; i < read.nr; i++) {
		if (is_title(line, &read, i, "image name"))
			read.image = i;
		if (is_title(line, &read, i, "app name"))
			read.app = i;
		named |= is_title(line, &read, i, "symbol name") ||
			 is_title(line, &read, i, "function") || read.image == i;
	}
	if (named && read.nr >= 3)
		*t = read;
}

struct cell {
	size_t at, len; /* without the blanks behind it */
};

/* A cell that is longer than its column moves those behind it.  Returns how many. */
static size_t read_cells(const struct table *t, const char *line, struct cell *cells)
{
	size_t at = strspn(line, " "), end = strlen(line), nr = 0;

	for (; nr < t->nr && at <= end; nr++) {
		size_t next = end;

		if (nr + 1 < t->nr) {
			next = at + t->at[nr + 1] - t->at[nr];
			if (next > end)
				break;
			if (line[next - 1] != ' ') {
				next += strcspn(line + next, " ");
				next += line[next] == ' ';
			}
		}
		cells[nr].at = at;
		cells[nr].len = next - at;
		while (cells[nr].len && line[at + cells[nr].len - 1] == ' ')
			cells[nr].len--;
		at = next;
	}
	return nr;
}

/* The cells of a row; none for an application that is called as its image.  0: it is no
 * row. */
static size_t read_row(const struct table *t, const char *line, struct cell *cells)
{
	size_t nr = read_cells(t, line, cells);

	if (!nr || nr < t->nr)
		return 0;
	if (t->image < nr && t->app < nr) {
		const struct cell *image = &cells[t->image];
		struct cell *app = &cells[t->app];

		if (image->len == app->len &&
		    !memcmp(line + image->at, line + app->at, app->len))
			app->len = 0;
	}
	return nr;
}

static void measure(struct table *t, const char *line)
{
	struct cell cells[MAX_CELLS];
	size_t nr = read_row(t, line, cells);

	for (size_t i = 0; i < nr; i++)
		if (cells[i].len > t->widest[i])
			t->widest[i] = cells[i].len;
}

/* Columns as wide as their cells, but no wider than they are in the file.  Returns where
 * the last cell begins; 0: it is no row. */
static size_t arrange(const struct table *t, const char *line, struct strbuf *out)
{
	struct cell cells[MAX_CELLS];
	size_t nr = read_row(t, line, cells), last = 0;

	if (nr)
		strbuf_fill(out, ' ', cells[0].at);
	else
		strbuf_puts(out, line);
	for (size_t i = 0; i < nr; i++) {
		size_t width = i + 1 < nr ? t->at[i + 1] - t->at[i] : 0;
		size_t len = cells[i].len;

		if (width > t->widest[i] + GAP)
			width = t->widest[i] + GAP;
		last = out->len;
		strbuf_add(out, line + cells[i].at, len);
		if (strbuf_error(out) || i + 1 == nr)
			break;
		if (t->narrow && (i == t->image || i == t->app)) {
			width = width < MIN_WORD + GAP ? width : MIN_WORD + GAP;
			if (width_of(out->data + last, len) > MIN_WORD)
				cut(out, last, len, MIN_WORD);
		}
		len = width_of(out->data + last, out->len - last);
		strbuf_fill(out, ' ', len < width ? width - len : 1);
	}
	return last;
}

/* ---- lines */

/* Appends what may be shown: tabs become blanks, what commands a terminal a "?".  *mark
 * moves along. */
static void clean(const char *line, size_t len, struct strbuf *out, size_t *mark)
{
	size_t start = out->len, wanted = *mark, n;
	unsigned column = 0;

	for (size_t at = 0; at < len; at += n) {
		int w = terminal_width(line + at, len - at, &n);

		if (at == wanted)
			*mark = out->len - start;
		if (line[at] == '\t') {
			do
				strbuf_putc(out, ' ');
			while (++column % TAB);
		} else if (w < 0) {
			strbuf_putc(out, '?');
			column++;
		} else {
			strbuf_add(out, line + at, n);
			column += (unsigned)w;
		}
	}
}

/* The widest word of the first @len bytes. */
static unsigned widest(const struct strbuf *line, size_t len, struct cell *out)
{
	unsigned most = 0;

	for (size_t at = 0, n; at < len; at += n + 1) {
		unsigned width;

		n = strcspn(line->data + at, " ");
		if (n > len - at)
			n = len - at;
		width = width_of(line->data + at, n);
		if (width > most) {
			*out = (struct cell){ at, n };
			most = width;
		}
	}
	return most;
}

/* What is left of @width columns if @excess go, but at least @min. */
static unsigned left(unsigned width, unsigned excess, unsigned min)
{
	return width > excess + min ? width - excess : min;
}

/* @last: where the cell begins that is cut first; 0: there is none */
static void shorten(const struct table *t, struct strbuf *line, size_t last,
		    unsigned columns)
{
	unsigned all = width_of(line->data, line->len), width;
	struct cell word = { 0 };

	if (all > columns && last) {
		width = width_of(line->data + last, line->len - last);
		if (width > MIN_LAST)
			cut(line, last, line->len - last,
			    left(width, all - columns, MIN_LAST));
	} else if (line->len > MAX_LINE) {
		cut(line, 0, line->len, MAX_LINE / 2);
	}
	for (;;) {
		all = width_of(line->data, line->len);
		if (all <= columns)
			return;
		width = widest(line, last ? last : line->len, &word);
		if (width <= MIN_WORD)
			break;
		cut(line, word.at, word.len, left(width, all - columns, MIN_WORD));
	}
	width = last ? width_of(line->data, last) : columns;
	if (width + 2 < columns) {
		cut(line, last, line->len - last, columns - width);
	} else if (t->nr && columns > 1) {
		strbuf_truncate(line, bytes_in(line->data, line->len, columns - 1));
		strbuf_puts(line, ELLIPSIS);
	}
}

/* ---- colours */

/* Is it a number, or what stands for one in a table? */
static bool is_figure(const char *word, size_t len)
{
	return strspn(word, "0123456789abcdef.+-%") >= len &&
	       (isdigit((unsigned char)word[0]) || strspn(word, "+-") >= 1);
}

static const char *color_of(const char *word, size_t len)
{
	const char *dot = memchr(word, '.', len);
	double share;

	if (!dot || !isdigit((unsigned char)word[0]) || !isdigit((unsigned char)dot[1]))
		return NULL;
	share = strtod(word, NULL);
	return share >= LARGE_SHARE ? RED : share >= SMALL_SHARE ? GREEN : NULL;
}

/* Shares are among the figures at the beginning of a line. */
static void add_line(const struct fit *f, const char *line, size_t len,
		     struct strbuf *out)
{
	size_t at = 0;

	while (f->colors && at < len) {
		size_t blanks = strspn(line + at, " \t"), n;
		const char *color;

		strbuf_add(out, line + at, blanks);
		at += blanks;
		n = strcspn(line + at, " \t");
		if (!n || !is_figure(line + at, n))
			break;
		color = color_of(line + at, n);
		strbuf_puts(out, color ? color : "");
		strbuf_add(out, line + at, n);
		strbuf_puts(out, color ? PLAIN : "");
		at += n;
	}
	strbuf_add(out, line + at, len - at);
}

static void fit_line(const struct fit *f, const struct table *t, const char *line,
		     size_t len, struct strbuf *out)
{
	CLEANUP(strbuf_fini) struct strbuf row = { 0 }, shown = { 0 };
	size_t last = 0;

	if (strlen(line) == len && t->nr && f->columns)
		last = arrange(t, line, &row);
	else
		strbuf_add(&row, line, len);
	clean(strbuf_str(&row), row.len, &shown, &last);
	/* what is no row is prose, which a terminal wraps, or a line */
	if (f->columns && shown.len && (last || !t->nr || !strchr(shown.data, ' ')))
		shorten(t, &shown, last, f->columns);
	add_line(f, strbuf_str(&shown), shown.len, out);
}

/* Hands every line to the second pass, or lets the first one look at it. */
static void each_line(const struct fit *f, struct table *t, const char *text, size_t len,
		      struct strbuf *out)
{
	CLEANUP(strbuf_fini) struct strbuf line = { 0 };

	while (len) {
		const char *end = memchr(text, '\n', len);
		size_t n = end ? (size_t)(end - text) : len;

		strbuf_reset(&line);
		strbuf_add(&line, text, n);
		if (strbuf_error(&line))
			return;
		if (!out) {
			if (!t->nr)
				read_titles(strbuf_str(&line), t);
			measure(t, strbuf_str(&line));
		} else if (f->terminal) {
			fit_line(f, t, strbuf_str(&line), line.len, out);
		} else {
			add_line(f, strbuf_str(&line), line.len, out);
		}
		if (end && out)
			strbuf_putc(out, '\n');
		n += end != NULL;
		text += n;
		len -= n;
	}
}

void fit_text(const struct fit *f, const char *text, size_t len, struct strbuf *out)
{
	struct table titles = { 0 };

	if (f->terminal && f->columns)
		each_line(f, &titles, text, len, NULL);
	if (titles.nr)
		titles.narrow = titles.at[titles.nr - 1] + MIN_LAST > f->columns;
	each_line(f, &titles, text, len, out);
}
