/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_COLUMN_H
#define OPFS_REPORT_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "opfs/report/memo.h"
#include "opfs/report/view.h"

/*
 * The columns of a table by symbol, laid out as opreport -l does: left-aligned, padded
 * to a fixed width, at least one blank between two; a longer field pushes the rest; the
 * last one is not padded.  Which columns there are follows from the view.
 */

enum { COLUMN_NR_GROUPS = 4 };

struct column_table {
	const struct view *v;
	uint64_t *cumulated; /* samples of all rows so far, one a class */
	/* Private: */
	struct memo *shares;               /* percentages of each class */
	struct memo *parts;                /* percentages of other lines */
	struct strbuf *names;              /* of each image, as shown; "": not yet */
	unsigned wanted[COLUMN_NR_GROUPS]; /* columns of each group, a bit each */
};

/* Another line about a row, indented: a place in it, or the other end of an arc. */
struct column_place {
	uint64_t vma;
	const struct line_place *line; /* NULL: not known */
};
struct column_part {
	const struct profile_row *row;
	const uint64_t *samples;          /* one a class: instead of the row's */
	const uint64_t *totals;           /* what percentages are of */
	uint64_t *cumulated;              /* samples of the related lines so far */
	const char *suffix;               /* behind the symbol's name; may be NULL */
	const struct column_place *place; /* names are left out; NULL: the symbol */
};

/* @v is borrowed and must outlive the table.  0 or -ENOMEM. */
int column_table_init(struct column_table *t, const struct view *v);
void column_table_fini(struct column_table *t);

/* Appends the line of titles; with several classes one over it that names each, where its
 * columns begin: header_title(). */
void column_titles(const struct column_table *t, struct strbuf *out);

/* Appends the line of a row, and adds its samples to those cumulated. */
void column_row(struct column_table *t, const struct profile_row *row,
		struct strbuf *out);

/* Appends such a line, and adds its samples to @part->cumulated. */
void column_part(struct column_table *t, const struct column_part *part,
		 struct strbuf *out);

/*
 * The other way round, for who shows the text of a table in a width of his own: where the
 * cells of each line are.  Names are padded with blanks and may hold some, so a name with
 * blanks that is longer than its column may be taken for two cells.
 */
enum column_kind { COLUMN_NUMBER, COLUMN_PLACE, COLUMN_IMAGE, COLUMN_APP, COLUMN_SYMBOL };

struct column_cell {
	enum column_kind kind;
	size_t start, len; /* in the line, without what pads it */
	size_t width;      /* what it is padded to; COLUMN_SYMBOL is not */
};

#define COLUMN_MAX_CELLS 2056 /* as many as PROFILE_MAX_CLASSES need */

struct column_layout {
	struct column_cell cells[COLUMN_MAX_CELLS];
	size_t nr;
};

/* Is the line (without its newline) that of column_titles()?  @out then has its cells. */
bool column_read_titles(const char *line, size_t len, struct column_layout *out);
/*
 * The cells of a line below it; also of a related line, which begins with two blanks and
 * may have fewer.  @out has room for layout->nr.  Returns how many there are.
 */
size_t column_read_row(const struct column_layout *layout, const char *line, size_t len,
		       struct column_cell *out);

#endif
