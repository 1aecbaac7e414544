/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_REPORT_WITH_H
#define OPFS_REPORT_REPORT_WITH_H

#include <stdbool.h>

#include "opfs/profile/compare.h"
#include "opfs/profile/lines.h"
#include "opfs/report/report.h"

/* What report.xml, report.json and report.tsv share: the switches of with:. */

static inline bool report_with(const struct report_job *job, uint64_t word)
{
	return (job->o->words & word) != 0;
}

/* needs_more of struct report, for files that take with:details and with:callgraph. */
unsigned report_with_needs(const struct options *o);

/* check of struct report, for the same files. */
int report_with_check(const struct report_job *job, struct err *err);

/* Source lines, if with:debug-info asks for them; none if zeroed. */
struct report_lines {
	struct lines *starts; /* of symbols; also for sort:debug */
	struct lines *hits;   /* with:details */
	bool shown;           /* with:debug-info was given */
};

/* @view: the wanted rows; it borrows from @out.  0, -EINTR, -ENOMEM. */
int report_lines_load(const struct report_job *job, struct report_lines *out,
		      struct view_options *view, struct err *err);
void report_lines_fini(struct report_lines *l);

/* Where a row's symbol, or row->hits[@hit], is in the source.  False: unknown. */
bool report_line_of_row(const struct report_lines *l, const struct profile_row *row,
			struct line_place *out);
bool report_line_of_hit(const struct report_lines *l, const struct profile_row *row,
			size_t hit, struct line_place *out);

/* The samples of a row; in a comparison also of the older side, 0 if it was not there. */
static inline uint64_t report_now(const struct profile_row *row, size_t class)
{
	return row->gone ? 0 : row->samples[class];
}

static inline uint64_t report_was(const struct profile_row *row, size_t class)
{
	return row->was ? row->was[class] : row->gone ? row->samples[class] : 0;
}

/* True if the shares of a row differ by more than chance. */
static inline bool report_sure(const struct view *view, const struct profile_row *row,
			       size_t class)
{
	return profile_significant(report_now(row, class), view->totals[class],
				   report_was(row, class),
				   view->p->classes[class].was_total);
}

#endif
