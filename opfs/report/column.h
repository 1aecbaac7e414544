/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_COLUMN_H
#define OPFS_REPORT_COLUMN_H

#include <stdint.h>

#include "base/strbuf.h"
#include "opfs/report/view.h"

/*
 * The columns of a table by symbol, laid out as opreport -l does: left-aligned, padded
 * to a fixed width, at least one blank between two; a longer field pushes the rest; the
 * last one is not padded.  Which columns there are follows from the view.
 */

struct column_table {
	const struct view *v;
	uint64_t *cumulated;         /* samples of all rows so far, one a class */
	struct column_share *shares; /* private: the last percentage of each class */
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

/* Appends the line of titles. */
void column_titles(const struct column_table *t, struct strbuf *out);

/* Appends the line of a row, and adds its samples to those cumulated. */
void column_row(struct column_table *t, const struct profile_row *row,
		struct strbuf *out);

/* Appends such a line, and adds its samples to @part->cumulated. */
void column_part(struct column_table *t, const struct column_part *part,
		 struct strbuf *out);

#endif
