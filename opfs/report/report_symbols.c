/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "base/cleanup.h"
#include "opfs/report/column.h"
#include "opfs/report/report.h"
#include "opfs/report/whole_stacks.h"

static int render_symbols(const struct report_job *job, struct strbuf *out,
			  struct err *err)
{
	CLEANUP(view_fini) struct view view = { 0 };
	CLEANUP(column_table_fini) struct column_table table = { 0 };
	CLEANUP(lines_freep) struct lines *lines = NULL;
	const struct profile *p = job->p;
	struct view_options options;
	int rc;

	if (report_nothing(p, out))
		return report_done(out, err);
	rc = report_view_options(job, &options, &lines, err);
	if (rc)
		return rc;
	if (view_init(&view, p, &options) || column_table_init(&table, &view))
		return report_no_memory(err);
	if (!job->o->view.no_header) {
		report_header(job, out);
		report_wholes(p, out);
		column_titles(&table, out);
	}
	for (size_t i = 0; i < view.nr_rows; i++) {
		rc = report_step(job, i, out, err);
		if (rc)
			return rc;
		column_row(&table, view_row(&view, i), out);
	}
	return report_done(out, err);
}

static unsigned needs_more(const struct options *o)
{
	return o->view.children ? PROFILE_ARCS : 0;
}

static int check(const struct report_job *job, struct err *err)
{
	if (!job->o->view.children)
		return 0;
	if (job->o->tags & OPTION_TAG(DIFF))
		return err_set(err, -EINVAL,
			       "with:children shows one session: leave it or diff: out");
	return whole_stacks_check(job, "with:children", err);
}

const struct report report_symbols = {
	.name = "report",
	.doc = "samples by symbol, as opreport -l",
	.basic = true,
	.needs = PROFILE_SYMBOLS,
	.needs_more = needs_more,
	.inlines = true,
	.check = check,
	.tags = REPORT_TAGS_ROWS | OPTION_TAG(SORT) | OPTION_TAG(DIFF),
	.words = REPORT_WORDS_TABLE | OPTION_WITH(CHILDREN) | OPTION_WITH(INLINES),
	.render = render_symbols,
};
