/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>

#include "base/cleanup.h"
#include "opfs/header.h"
#include "opfs/percent.h"
#include "opfs/report.h"

/* One event's columns: 9 for samples, a blank, 7 for the percentage, a blank. */
enum { CLASS_WIDTH = 18 };

static void add_titles(const struct profile *p, const char *indent, struct strbuf *out)
{
	char title[HEADER_TITLE_MAX + 1];

	strbuf_puts(out, indent);
	for (size_t c = 0; c < p->nr_classes; c++) {
		header_title(p, c, title);
		strbuf_printf(out, "%*s|", HEADER_TITLE_MAX, title);
	}
	strbuf_printf(out, "\n%s", indent);
	for (size_t c = 0; c < p->nr_classes; c++)
		strbuf_puts(out, "  samples|      %|");
	strbuf_printf(out, "\n%s", indent);
	strbuf_fill(out, '-', CLASS_WIDTH * p->nr_classes);
	strbuf_putc(out, '\n');
}

static void add_row(const struct view_apps *v, const char *indent,
		    const uint64_t *samples, const uint64_t *totals, uint32_t image,
		    struct strbuf *out)
{
	char percent[PERCENT_MAX];

	strbuf_puts(out, indent);
	for (size_t c = 0; c < v->p->nr_classes; c++) {
		percent_format(percent_of(samples[c], totals[c]), percent);
		strbuf_printf(out, "%9" PRIu64 " %s ", samples[c], percent);
	}
	view_text(view_image_name(v->p, &v->options, image), out);
	strbuf_putc(out, '\n');
}

static void add_app(const struct view_apps *v, const struct view_app *app,
		    struct strbuf *out)
{
	const uint64_t *totals = v->options.global_percent ? v->totals : app->samples;

	add_row(v, "", app->samples, v->totals, app->app, out);
	if (app->alone)
		return;
	if (!v->options.no_header)
		add_titles(v->p, "\t", out);
	for (size_t i = 0; i < app->nr_images; i++)
		add_row(v, "\t", app->images[i]->samples, totals, app->images[i]->image,
			out);
}

int report_by_app(const struct profile *p, const struct view_options *o,
		  const struct viewer *v, struct strbuf *out, struct err *err)
{
	CLEANUP(view_apps_fini) struct view_apps view = { 0 };

	if (report_nothing(p, out))
		return report_done(out, err);
	if (view_apps_init(&view, p, o))
		return report_no_memory(err);
	if (!o->no_header) {
		header_lines(p, out);
		add_titles(p, "", out);
	}
	for (size_t i = 0; i < view.nr_apps; i++) {
		if (viewer_gone(v))
			return report_interrupted(err);
		add_app(&view, &view.apps[i], out);
	}
	return report_done(out, err);
}

static int render(const struct profile *p, const struct viewer *v, struct strbuf *out,
		  struct err *err)
{
	const struct view_options defaults = { 0 };

	return report_by_app(p, &defaults, v, out, err);
}

const struct report report_summary = {
	.name = "summary",
	.doc = "samples by application and the images in it, as opreport",
	.needs = PROFILE_PAIRS,
	.render = render,
};
