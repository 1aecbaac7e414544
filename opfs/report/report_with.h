/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_REPORT_WITH_H
#define OPFS_REPORT_REPORT_WITH_H

#include <stdbool.h>

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

#endif
