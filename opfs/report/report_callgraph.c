/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/percent.h"
#include "opfs/report/calls.h"
#include "opfs/report/column.h"
#include "opfs/report/report.h"

/* Callers and callees, as opreport -c shows them: a block for every symbol. */

enum { RULE_WIDTH = 79 };

struct graph {
	const struct report_job *job;
	struct view view;
	struct column_table table;
	struct calls calls;
	uint64_t *totals, *cumulated; /* of the children of one side */
	struct lines *lines;
};

static void graph_fini(struct graph *g)
{
	column_table_fini(&g->table);
	view_fini(&g->view);
	calls_fini(&g->calls);
	free(g->totals);
	free(g->cumulated);
	lines_free(g->lines);
}

static int graph_init(struct graph *g, const struct report_job *job, struct err *err)
{
	const struct profile *p = job->p;
	struct view_options o;
	int rc;

	g->job = job;
	rc = report_view_options(job, &o, &g->lines, err);
	if (rc)
		return rc;
	o.only_called = true;
	o.threshold = 0; /* applied to whole blocks: see shows_block() */
	g->totals = calloc(p->nr_classes + 1, sizeof(*g->totals));
	g->cumulated = calloc(p->nr_classes + 1, sizeof(*g->cumulated));
	if (!g->totals || !g->cumulated || view_init(&g->view, p, &o) ||
	    calls_init(&g->calls, &g->view) || column_table_init(&g->table, &g->view))
		return report_no_memory(err);
	return 0;
}

/* ---- one side of a block */

/* Percentages are of the total of that side of the block. */
static void add_side(struct graph *g, struct call_list list, struct strbuf *out)
{
	const struct profile *p = g->job->p;
	double threshold = g->job->o->view.threshold;
	struct column_part part = {
		.totals = g->view.options.global_percent ? g->view.totals : g->totals,
		.cumulated = g->cumulated,
	};

	memset(g->totals, 0, p->nr_classes * sizeof(*g->totals));
	memset(g->cumulated, 0, p->nr_classes * sizeof(*g->cumulated));
	for (size_t i = 0; i < list.nr; i++)
		for (size_t c = 0; c < p->nr_classes; c++)
			g->totals[c] += list.calls[i].samples[c];
	for (size_t i = 0; i < list.nr; i++) {
		const struct call *call = &list.calls[i];

		if (!percent_reached(call->samples, g->totals, p->nr_classes, threshold))
			continue;
		part.row = call->row;
		part.samples = call->samples;
		part.suffix = call->self ? " [self]" : NULL;
		column_part(&g->table, &part, out);
	}
}

/* ---- blocks */

static void add_rule(struct strbuf *out)
{
	strbuf_fill(out, '-', RULE_WIDTH);
	strbuf_putc(out, '\n');
}

static bool shows_block(const struct graph *g, const struct profile_row *row)
{
	return percent_reached(row->samples, g->view.totals, g->job->p->nr_classes,
			       g->job->o->view.threshold);
}

static void add_block(struct graph *g, const struct profile_row *row, struct strbuf *out)
{
	add_side(g, calls_callers(&g->calls, row), out);
	column_row(&g->table, row, out);
	add_side(g, calls_callees(&g->calls, row), out);
	add_rule(out);
}

/* Says how many samples nobody can see the caller of. */
static void add_without(const struct catalog *cat, struct strbuf *out)
{
	uint64_t without = 0, stored = 0;

	for (size_t i = 0; i < cat->nr_dirs; i++) {
		without += cat->dirs[i].stats.value[SPEC_STAT_BT_NO_CALLER];
		stored += cat->dirs[i].stats.value[SPEC_STAT_STORED];
	}
	if (without)
		strbuf_printf(out,
			      "Of the session's %" PRIu64 " samples %" PRIu64
			      " (%.4g %%) have no caller: they are of code whose frames "
			      "are not known, or of where a thread or interrupt begins\n",
			      stored, without, percent_of(without, stored));
}

static void add_head(const struct graph *g, struct strbuf *out)
{
	if (g->job->o->view.no_header)
		return;
	report_header(g->job, out);
	strbuf_puts(out, "Callers above a symbol and callees below it count "
			 "samples that were taken during calls, not calls\n");
	add_without(g->job->p->cat, out);
	column_titles(&g->table, out);
}

static int render_callgraph(const struct report_job *job, struct strbuf *out,
			    struct err *err)
{
	CLEANUP(graph_fini) struct graph g = { 0 };
	int rc;

	/* what only calls others has calls, and no samples */
	if (!job->p->nr_arcs && report_nothing(job->p, out))
		return report_done(out, err);
	rc = graph_init(&g, job, err);
	if (rc)
		return rc;
	add_head(&g, out);
	add_rule(out);
	for (size_t i = 0; i < g.view.nr_rows; i++) {
		rc = report_step(job, i, out, err);
		if (rc)
			return rc;
		if (shows_block(&g, g.view.rows[i]))
			add_block(&g, g.view.rows[i], out);
	}
	return report_done(out, err);
}

const struct report report_callgraph = {
	.name = "callgraph",
	.doc = "callers and callees of each symbol, in samples and not in calls, as "
	       "opreport -c",
	.needs = PROFILE_ARCS,
	.calls = true,
	.tags = REPORT_TAGS_ROWS | OPTION_TAG(SORT),
	.words = REPORT_WORDS_TABLE | OPTION_WITH(GLOBAL_PERCENT),
	.render = render_callgraph,
};
