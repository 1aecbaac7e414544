/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/report_with.h"

#include <errno.h>

unsigned report_with_needs(const struct options *o)
{
	return (o->words & OPTION_WITH(DETAILS) ? PROFILE_HITS : 0) |
	       (o->words & OPTION_WITH(CALLGRAPH) ? PROFILE_ARCS : 0);
}

int report_with_check(const struct report_job *job, struct err *err)
{
	if (job->o->tags & OPTION_TAG(DIFF) && report_with_needs(job->o))
		return err_set(err, -EINVAL,
			       "with:details and with:callgraph show one session: leave "
			       "them or diff: out");
	return 0;
}

int report_lines_load(const struct report_job *job, struct report_lines *out,
		      struct view_options *view, struct err *err)
{
	const struct lines_query q = {
		.p = job->p, .what = LINES_OF_HITS, .syms = job->syms, .v = job->v
	};
	int rc;

	*out = (struct report_lines){ .shown = job->o->debug_info };
	rc = report_view_options(job, view, &out->starts, err);
	if (rc || !out->shown || !report_with(job, OPTION_WITH(DETAILS)))
		return rc;
	return lines_load(&q, &out->hits, err);
}

void report_lines_fini(struct report_lines *l)
{
	lines_free(l->starts);
	lines_free(l->hits);
	*l = (struct report_lines){ 0 };
}

bool report_line_of_row(const struct report_lines *l, const struct profile_row *row,
			struct line_place *out)
{
	return l->shown && l->starts && lines_of_row(l->starts, row, out) && out->file;
}

bool report_line_of_hit(const struct report_lines *l, const struct profile_row *row,
			size_t hit, struct line_place *out)
{
	return l->hits && lines_at(l->hits, row->image, row->hits[hit], out) && out->file;
}
