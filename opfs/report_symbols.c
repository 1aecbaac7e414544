/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/cleanup.h"
#include "opfs/column.h"
#include "opfs/header.h"
#include "opfs/report.h"

int report_by_symbol(const struct profile *p, const struct view_options *o,
		     const struct viewer *v, struct strbuf *out, struct err *err)
{
	CLEANUP(view_fini) struct view view = { 0 };
	CLEANUP(column_table_fini) struct column_table table = { 0 };

	if (report_nothing(p, out))
		return report_done(out, err);
	if (view_init(&view, p, o) || column_table_init(&table, &view))
		return report_no_memory(err);
	if (!o->no_header) {
		header_lines(p, out);
		column_titles(&table, out);
	}
	for (size_t i = 0; i < view.nr_rows; i++) {
		if (i % 1024 == 0 && viewer_gone(v))
			return report_interrupted(err);
		column_row(&table, view.rows[i], out);
	}
	return report_done(out, err);
}

static int render(const struct profile *p, const struct viewer *v, struct strbuf *out,
		  struct err *err)
{
	const struct view_options defaults = { 0 };

	return report_by_symbol(p, &defaults, v, out, err);
}

const struct report report_symbols = {
	.name = "report",
	.doc = "samples by symbol, as opreport -l",
	.needs = PROFILE_SYMBOLS,
	.render = render,
};
