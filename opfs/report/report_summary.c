/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/percent.h"
#include "opfs/profile/change.h"
#include "opfs/report/header.h"
#include "opfs/report/report.h"
#include "opfs/report/view_apps.h"

/* One event's columns: 9 for samples, a blank, 7 for the percentage, a blank; in a
 * comparison 9 for the change and a blank, 4 for whether it is sure and a blank. */
enum { CLASS_WIDTH = 18, DIFF_WIDTH = 15 };

static size_t class_width(const struct profile *p)
{
	return p->base ? CLASS_WIDTH + DIFF_WIDTH : CLASS_WIDTH;
}

static void add_titles(const struct profile *p, const char *indent, struct strbuf *out)
{
	char title[HEADER_TITLE_MAX + 1];

	strbuf_puts(out, indent);
	for (size_t c = 0; c < p->nr_classes; c++) {
		header_title(p, c, title);
		strbuf_printf(out, "%*s|", (int)class_width(p) - 1, title);
	}
	strbuf_printf(out, "\n%s", indent);
	for (size_t c = 0; c < p->nr_classes; c++)
		strbuf_printf(out, "  samples|      %%|%s",
			      p->base ? "   diff %|sure|" : "");
	strbuf_printf(out, "\n%s", indent);
	strbuf_fill(out, '-', class_width(p) * p->nr_classes);
	strbuf_putc(out, '\n');
}

/* One line: an application of the whole, or an image of its application. */
struct line {
	const uint64_t *samples, *totals; /* one a class */
	const uint64_t *was, *was_totals; /* in a comparison */
	bool gone;
	uint32_t image;
};

static void add_change(const struct line *l, size_t c, struct strbuf *out)
{
	enum profile_change change = profile_changed(l->samples, l->was, l->gone, c);
	uint64_t was = l->was ? l->was[c] : 0, now = l->gone ? 0 : l->samples[c];
	uint64_t was_total = l->was_totals ? l->was_totals[c] : 0;

	char text[PERCENT_MAX];

	profile_change_format(change, profile_growth(now, l->totals[c], was, was_total),
			      text);
	strbuf_printf(out, "%9s %4s ", text,
		      profile_significant(now, l->totals[c], was, was_total) ? "yes"
									     : "no");
}

static void add_line(const struct view_apps *v, const char *indent, const struct line *l,
		     struct strbuf *out)
{
	char percent[PERCENT_MAX];

	strbuf_puts(out, indent);
	for (size_t c = 0; c < v->p->nr_classes; c++) {
		percent_format(percent_of(l->samples[c], l->totals[c]), percent);
		strbuf_printf(out, "%9" PRIu64 " %7s ", l->samples[c],
			      l->gone ? "---" : percent);
		if (v->p->base)
			add_change(l, c, out);
	}
	escape_text(out, view_image_name(v->p, &v->options, l->image));
	strbuf_putc(out, '\n');
}

static void add_app(const struct view_apps *v, const struct view_app *app,
		    struct strbuf *out)
{
	bool global = v->options.global_percent;

	add_line(v, "",
		 &(struct line){ app->samples, v->totals, app->was, v->was_totals,
				 app->gone, app->app },
		 out);
	if (app->alone)
		return;
	if (!v->options.no_header)
		add_titles(v->p, "\t", out);
	for (size_t i = 0; i < app->nr_images; i++)
		add_line(v, "\t",
			 &(struct line){ app->images[i]->samples,
					 global ? v->totals : app->samples,
					 app->images[i]->was,
					 global ? v->was_totals : app->was,
					 app->images[i]->gone, app->images[i]->image },
			 out);
}

static int render_summary(const struct report_job *job, struct strbuf *out,
			  struct err *err)
{
	CLEANUP(view_apps_fini) struct view_apps view = { 0 };
	const struct profile *p = job->p;

	if (report_nothing(p, out))
		return report_done(out, err);
	if (view_apps_init(&view, p, &job->o->view))
		return report_no_memory(err);
	if (!job->o->view.no_header) {
		report_header(job, out);
		add_titles(p, "", out);
	}
	for (size_t i = 0; i < view.nr_apps; i++) {
		if (viewer_gone(job->v))
			return report_interrupted(err);
		add_app(&view, &view.apps[i], out);
	}
	return report_done(out, err);
}

const struct report report_summary = {
	.name = "summary",
	.doc = "samples by application and the images in it, as opreport",
	.needs = PROFILE_IMAGES,
	.tags = OPTION_TAG(MERGE) | OPTION_TAG(SPLIT) | OPTION_TAG(SORT) |
		OPTION_TAG(THRESHOLD) | OPTION_TAG(WITH) | OPTION_TAG(DIFF),
	.words = OPTION_WITH(REVERSE_SORT) | OPTION_WITH(LONG_FILENAMES) |
		 OPTION_WITH(NO_HEADER) | OPTION_WITH(GLOBAL_PERCENT) |
		 OPTION_WITH(EXCLUDE_DEPENDENT),
	.render = render_summary,
};
