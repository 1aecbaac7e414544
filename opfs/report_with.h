/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_WITH_H
#define OPFS_REPORT_WITH_H

#include <stdbool.h>

#include "opfs/lines.h"
#include "opfs/report.h"

/* What report.xml, report.json and report.tsv make of the switches of with:. */

static inline bool report_with(const struct report_job *job, uint64_t word)
{
	return (job->o->words & word) != 0;
}

/* struct report: needs_more, of those that know with:details and with:callgraph. */
unsigned report_with_needs(const struct options *o);

/* struct report: check, of the same. */
int report_with_check(const struct report_job *job, struct err *err);

/* Source lines, where with:debug-info asks for them; zeroed there are none. */
struct report_lines {
	struct lines *starts; /* of symbols; also for sort:debug */
	struct lines *hits;   /* with:details */
	bool shown;           /* with:debug-info was given */
};

/* @view: how rows are wanted, which borrows from @out.  0, -EINTR, -ENOMEM. */
int report_lines_load(const struct report_job *job, struct report_lines *out,
		      struct view_options *view, struct err *err);
void report_lines_fini(struct report_lines *l);

/* Where a row's symbol, or row->hits[@hit], is in the source.  False: not known. */
bool report_line_of_row(const struct report_lines *l, const struct profile_row *row,
			struct line_place *out);
bool report_line_of_hit(const struct report_lines *l, const struct profile_row *row,
			size_t hit, struct line_place *out);

/* Samples of a row, and in a comparison those of the older side, 0 where it was not. */
static inline uint64_t report_now(const struct profile_row *row, size_t class)
{
	return row->gone ? 0 : row->samples[class];
}

static inline uint64_t report_was(const struct profile_row *row, size_t class)
{
	return row->was ? row->was[class] : row->gone ? row->samples[class] : 0;
}

/* Is the difference of a row's shares more than chance? */
static inline bool report_sure(const struct view *view, const struct profile_row *row,
			       size_t class)
{
	return profile_significant(report_now(row, class), view->totals[class],
				   report_was(row, class),
				   view->p->classes[class].was_total);
}

#endif
