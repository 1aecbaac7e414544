/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "opfs/percent.h"
#include "opfs/report.h"

/*
 * Columns are for programs and never change: names in the first line, tabs between,
 * bytes that would break a line or a field as %XX (and % itself as %25).
 */

static void add_field(const char *text, struct strbuf *out)
{
	escape_add(out, text, strlen(text), escape_plain_field);
	strbuf_putc(out, '\t');
}

static void add_row(const struct view *view, const struct profile_row *row, size_t class,
		    const char *event, struct strbuf *out)
{
	const struct catalog_image *images = view->p->cat->images;

	strbuf_puts(out, event);
	strbuf_putc(out, '\t');
	add_field(images[row->app].shown, out);
	add_field(images[row->image].shown, out);
	add_field(row->name, out);
	strbuf_printf(out, "%" PRIu64 "\t%.4f\n", row->samples[class],
		      percent_of(row->samples[class], view->totals[class]));
}

static int add_class(const struct view *view, size_t class, const struct viewer *v,
		     struct strbuf *out, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf event = { 0 }, plain = { 0 };

	report_event(&view->p->classes[class], &plain);
	escape_add(&event, strbuf_str(&plain), plain.len, escape_plain_field);
	if (strbuf_error(&event) || strbuf_error(&plain))
		return report_no_memory(err);
	for (size_t i = 0; i < view->nr_rows; i++) {
		if (i % 1024 == 0 && viewer_gone(v))
			return report_interrupted(err);
		if (view->rows[i]->samples[class])
			add_row(view, view->rows[i], class, strbuf_str(&event), out);
	}
	return 0;
}

static int render(const struct profile *p, const struct viewer *v, struct strbuf *out,
		  struct err *err)
{
	CLEANUP(view_fini) struct view view = { 0 };
	const struct view_options defaults = { 0 };
	int rc;

	if (view_init(&view, p, &defaults))
		return report_no_memory(err);
	strbuf_puts(out, "event\tapplication\timage\tsymbol\tsamples\tshare\n");
	for (size_t c = 0; c < p->nr_classes; c++) {
		rc = add_class(&view, c, v, out, err);
		if (rc)
			return rc;
	}
	return report_done(out, err);
}

const struct report report_tsv = {
	.name = "report.tsv",
	.doc = "the same for programs: event, application, image, symbol, samples, share",
	.needs = PROFILE_SYMBOLS,
	.render = render,
};
