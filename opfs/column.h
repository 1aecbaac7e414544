/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_COLUMN_H
#define OPFS_COLUMN_H

#include <stdint.h>

#include "base/strbuf.h"
#include "opfs/view.h"

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

/* @v is borrowed and must outlive the table.  0 or -ENOMEM. */
int column_table_init(struct column_table *t, const struct view *v);
void column_table_fini(struct column_table *t);

/* Appends the line of titles. */
void column_titles(const struct column_table *t, struct strbuf *out);

/* Appends the line of a row, and adds its samples to those cumulated. */
void column_row(struct column_table *t, const struct profile_row *row,
		struct strbuf *out);

#endif
