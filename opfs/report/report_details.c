/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "opfs/report/column.h"
#include "opfs/report/report.h"

/* The places with samples below each symbol, as opreport -d shows them. */

struct details {
	const struct report_job *job;
	struct view view;
	struct column_table table;
	uint64_t *cumulated; /* of the symbol so far */
	struct lines *lines; /* of symbols */
	struct lines *spots; /* of places; NULL: not asked for */
};

static void details_fini(struct details *d)
{
	column_table_fini(&d->table);
	view_fini(&d->view);
	free(d->cumulated);
	lines_free(d->lines);
	lines_free(d->spots);
}

static int load_lines(struct details *d, struct view_options *o, struct err *err)
{
	const struct report_job *job = d->job;
	const struct lines_query q = {
		.p = job->p, .what = LINES_OF_HITS, .syms = job->syms, .v = job->v
	};
	int rc = report_view_options(job, o, &d->lines, err);

	return rc || !o->show_lines ? rc : lines_load(&q, &d->spots, err);
}

static int details_init(struct details *d, const struct report_job *job, struct err *err)
{
	struct view_options o;
	int rc;

	d->job = job;
	rc = load_lines(d, &o, err);
	if (rc)
		return rc;
	o.show_address = true;
	d->cumulated = calloc(job->p->nr_classes + 1, sizeof(*d->cumulated));
	if (!d->cumulated || view_init(&d->view, job->p, &o) ||
	    column_table_init(&d->table, &d->view))
		return report_no_memory(err);
	return 0;
}

static void add_places(struct details *d, const struct profile_row *row,
		       struct strbuf *out)
{
	const struct profile *p = d->job->p;
	struct column_place place;
	struct line_place line;
	struct column_part part = {
		.row = row,
		.totals = d->view.options.global_percent ? d->view.totals : row->samples,
		.cumulated = d->cumulated,
		.place = &place,
	};

	memset(d->cumulated, 0, p->nr_classes * sizeof(*d->cumulated));
	for (size_t i = 0; i < row->nr_hits; i++) {
		place.vma = profile_hit_vma(p, row, i);
		place.line =
			d->spots && lines_at(d->spots, row->image, row->hits[i], &line)
				? &line
				: NULL;
		part.samples = profile_hit_samples(row, i, p->nr_classes);
		column_part(&d->table, &part, out);
	}
}

static int render_details(const struct report_job *job, struct strbuf *out,
			  struct err *err)
{
	CLEANUP(details_fini) struct details d = { 0 };
	int rc;

	if (report_nothing(job->p, out))
		return report_done(out, err);
	rc = details_init(&d, job, err);
	if (rc)
		return rc;
	if (!job->o->view.no_header) {
		report_header(job, out);
		column_titles(&d.table, out);
	}
	for (size_t i = 0; i < d.view.nr_rows; i++) {
		rc = report_step(job, i, out, err);
		if (rc)
			return rc;
		column_row(&d.table, view_row(&d.view, i), out);
		add_places(&d, d.view.rows[i], out);
	}
	return report_done(out, err);
}

const struct report report_details = {
	.name = "details",
	.doc = "samples by symbol and address, as opreport -d",
	.needs = PROFILE_HITS,
	.tags = REPORT_TAGS_ROWS | OPTION_TAG(SORT),
	.words = REPORT_WORDS_TABLE | OPTION_WITH(GLOBAL_PERCENT),
	.render = render_details,
};
