/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/markup.h"
#include "base/sort.h"
#include "opfs/report/calls.h"
#include "opfs/report/xml_head.h"
#include "opfs/report/xml_symbols.h"

/* report.xml has the structure of opreport -X, version 3.1.  Source: doc/report.xsd. */

struct item {           /* a row, by what it is shown inside of */
	uint64_t place; /* application, then image */
	const struct profile_row *row;
};

struct xml {
	const struct report_job *job;
	struct strbuf *out;
	struct view view;
	struct item *items;
	size_t nr_items;
	struct xml_classes classes;
	struct calls calls;
	struct xml_symbols symbols;
	struct report_lines lines;
	uint64_t *sums; /* with room for two for each class */
};

static void xml_fini(struct xml *x)
{
	view_fini(&x->view);
	free(x->items);
	xml_classes_fini(&x->classes);
	calls_fini(&x->calls);
	xml_symbols_fini(&x->symbols);
	report_lines_fini(&x->lines);
	free(x->sums);
}

/* ---- rows, grouped by application, then image: an application's own image first */

static int compare_images(const void *px, const void *py, void *ctx)
{
	const struct catalog_image *images = ctx;
	const struct catalog_image *a = &images[*(const uint32_t *)px];
	const struct catalog_image *b = &images[*(const uint32_t *)py];
	int order = strcmp(a->base, b->base);

	return order ? order : strcmp(a->shown, b->shown);
}

/* The place of each image among all images sorted by name. */
static uint32_t *rank_images(const struct catalog *cat)
{
	CLEANUP(free_ptr) uint32_t *order = calloc(cat->nr_images + 1, sizeof(*order));
	uint32_t *ranks = calloc(cat->nr_images + 1, sizeof(*ranks));

	if (!order || !ranks) {
		free(ranks);
		return NULL;
	}
	for (uint32_t i = 0; i < cat->nr_images; i++)
		order[i] = i;
	qsort_r(order, cat->nr_images, sizeof(*order), compare_images, cat->images);
	for (uint32_t i = 0; i < cat->nr_images; i++)
		ranks[order[i]] = i;
	return ranks;
}

/* An application's own image first. */
static uint64_t place_of(const struct profile_row *row, const uint32_t *ranks)
{
	uint64_t image = row->image == row->app ? 0 : ranks[row->image] + 1u;

	return (uint64_t)ranks[row->app] << 32 | image;
}

/* In each place rows stay in the order of the view. */
static int group_rows(struct xml *x)
{
	size_t nr = x->view.nr_rows;
	CLEANUP(free_ptr) uint32_t *ranks = rank_images(x->job->p->cat);
	CLEANUP(free_ptr) struct sort_item *order = malloc((nr + 1) * sizeof(*order));
	struct sort_item *spare;

	/* no larger: @items are the spare place while @order is sorted */
	_Static_assert(sizeof(*spare) == sizeof(*x->items), "items are spare");
	x->items = calloc(nr + 1, sizeof(*x->items));
	if (!ranks || !order || !x->items)
		return -ENOMEM;
	spare = (void *)x->items;
	for (size_t i = 0; i < nr; i++)
		order[i] = (struct sort_item){ .key = place_of(x->view.rows[i], ranks),
					       .a = (uint32_t)i };
	sort_items(order, nr, spare);
	for (size_t i = 0; i < nr; i++)
		x->items[i] = (struct item){ order[i].key, x->view.rows[order[i].a] };
	x->nr_items = nr;
	return 0;
}

/* ---- counts */

static void add_count(const struct xml *x, size_t class, uint64_t n, const uint64_t *was)
{
	strbuf_puts(x->out, "<count");
	if (x->classes.told) {
		strbuf_puts(x->out, "  class=\"c");
		strbuf_number(x->out, class, 0);
		strbuf_putc(x->out, '"');
	}
	if (was)
		strbuf_printf(x->out, "  base=\"%" PRIu64 "\"", was[class]);
	strbuf_puts(x->out, ">\n");
	strbuf_number(x->out, n, 0);
	strbuf_puts(x->out, "</count>\n");
}

/* Zeros are left out, as OProfile does; if all counts are zero, one stays. */
static void add_both(const struct xml *x, const uint64_t *now, const uint64_t *was)
{
	bool any = false;

	for (size_t c = 0; c < x->view.p->nr_classes; c++) {
		if (!now[c] && !(was && was[c]))
			continue;
		add_count(x, c, now[c], was);
		any = true;
	}
	if (!any)
		add_count(x, 0, 0, was);
}

static void add_counts(void *ctx, const uint64_t *samples)
{
	add_both(ctx, samples, NULL);
}

/* Sums the rows of some items. */
static void add_sums(struct xml *x, size_t first, size_t end)
{
	size_t nr = x->view.p->nr_classes;
	uint64_t *now = x->sums, *was = x->sums + nr;

	memset(x->sums, 0, 2 * nr * sizeof(*x->sums));
	for (size_t i = first; i < end; i++) {
		for (size_t c = 0; c < nr; c++) {
			now[c] += view_now(x->items[i].row, c);
			was[c] += view_was(x->items[i].row, c);
		}
	}
	add_both(x, now, x->view.p->base ? was : NULL);
}

/* ---- binaries */

static void open_named(struct xml *x, const char *element, uint32_t image)
{
	strbuf_printf(x->out, "<%s  name=\"", element);
	markup_xml(x->view.p->cat->images[image].shown, x->out);
	strbuf_puts(x->out, "\">\n");
}

static void add_calls(struct xml *x, const char *element, const struct profile_row *row,
		      struct call_list list)
{
	bool modules = row->image != row->app; /* then each end names its image */

	strbuf_printf(x->out, "<%s>\n", element);
	for (size_t i = 0; i < list.nr; i++) {
		const struct call *call = &list.calls[i];

		if (call->self &&
		    !profile_any_sample(call->row->samples, x->view.p->nr_classes))
			continue;
		if (modules)
			open_named(x, "module", call->row->image);
		strbuf_printf(x->out, "<symbol  idref=\"%" PRIu32 "\"%s>\n",
			      xml_symbol_id(&x->symbols, call->row),
			      call->self ? " self=\"true\"" : "");
		add_counts(x, call->samples);
		strbuf_puts(x->out, "</symbol>\n");
		if (modules)
			strbuf_puts(x->out, "</module>\n");
	}
	strbuf_printf(x->out, "</%s>\n", element);
}

static void add_symbol(struct xml *x, size_t item)
{
	const struct profile_row *row = x->items[item].row;

	strbuf_puts(x->out, "<symbol  idref=\"");
	strbuf_number(x->out, xml_symbol_id(&x->symbols, row), 0);
	strbuf_putc(x->out, '"');
	if (row->nr_hits && report_with(x->job, OPTION_WITH(DETAILS))) {
		uint32_t low = xml_symbol_details(&x->symbols, row);

		strbuf_printf(x->out,
			      " detaillo=\"%" PRIu32 "\" detailhi=\"%" PRIu32 "\"", low,
			      low + row->nr_hits - 1);
	}
	strbuf_puts(x->out, ">\n");
	if (report_with(x->job, OPTION_WITH(CALLGRAPH))) {
		add_calls(x, "callers", row, calls_callers(&x->calls, row));
		add_calls(x, "callees", row, calls_callees(&x->calls, row));
	}
	add_sums(x, item, item + 1);
	strbuf_puts(x->out, "</symbol>\n");
}

/* One past the last item of the same application, or of the same image in it. */
static size_t items_end(const struct xml *x, size_t first, int shift)
{
	size_t end = first;

	while (end < x->nr_items &&
	       x->items[end].place >> shift == x->items[first].place >> shift)
		end++;
	return end;
}

static int add_module(struct xml *x, size_t first, size_t end, struct err *err)
{
	const struct profile_row *row = x->items[first].row;
	bool own = row->image == row->app;

	if (!own) {
		open_named(x, "module", row->image);
		add_sums(x, first, end);
	}
	for (size_t i = first; i < end; i++) {
		int rc = report_step(x->job, i, x->out, err);

		if (rc)
			return rc;
		if (i + 2 * VIEW_SOON < end)
			__builtin_prefetch(x->items[i + 2 * VIEW_SOON].row);
		if (i + VIEW_SOON < end)
			view_fetch(x->items[i + VIEW_SOON].row);
		add_symbol(x, i);
	}
	if (!own)
		strbuf_puts(x->out, "</module>\n");
	return 0;
}

static int add_binary(struct xml *x, size_t first, size_t end, struct err *err)
{
	const struct profile_row *row = x->items[first].row;

	open_named(x, "binary", row->app);
	/* As OProfile: an application has its own image, and each module adds its own. */
	add_sums(x, first, row->image == row->app ? items_end(x, first, 0) : first);
	for (size_t i = first, next; i < end; i = next) {
		int rc;

		next = items_end(x, i, 0);
		rc = add_module(x, i, next, err);
		if (rc)
			return rc;
	}
	strbuf_puts(x->out, "</binary>\n");
	return 0;
}

static int add_binaries(struct xml *x, struct err *err)
{
	int rc = viewer_gone(x->job->v) ? report_interrupted(err) : 0;

	for (size_t i = 0, end; i < x->nr_items && !rc; i = end) {
		end = items_end(x, i, 32);
		rc = add_binary(x, i, end, err);
	}
	return rc;
}

/* ---- all of it */

static int prepare(struct xml *x, const struct view_options *how)
{
	const struct profile *p = x->job->p;

	x->sums = calloc(2 * p->nr_classes + 1, sizeof(*x->sums));
	if (!x->sums || view_init(&x->view, p, how) || group_rows(x) ||
	    xml_classes_init(&x->classes, p) || xml_symbols_init(&x->symbols, x->job))
		return -ENOMEM;
	return how->only_called ? calls_init(&x->calls, &x->view) : 0;
}

static int render_xml(const struct report_job *job, struct strbuf *out, struct err *err)
{
	CLEANUP(xml_fini) struct xml x = { .job = job, .out = out };
	struct view_options how;
	int rc = report_lines_load(job, &x.lines, &how, err);

	if (rc)
		return rc;
	how.only_called = report_with(job, OPTION_WITH(CALLGRAPH));
	if (prepare(&x, &how))
		return report_no_memory(err);
	xml_head_write(job, &x.classes, out);
	rc = add_binaries(&x, err);
	if (!rc)
		rc = xml_symbols_write(&x.symbols, &x.lines, add_counts, &x, out, err);
	strbuf_puts(out, "</profile>\n");
	return rc ? rc : report_done(out, err);
}

const struct report report_xml = {
	.name = "report.xml",
	.doc = "the same as XML, as opreport -X",
	.names_path = true,
	.needs = PROFILE_SYMBOLS,
	.needs_more = report_with_needs,
	.more = true,
	.tags = REPORT_TAGS_ROWS | OPTION_TAG(DIFF),
	.words = OPTION_WITH(EXCLUDE_DEPENDENT) | OPTION_WITH(DETAILS) |
		 OPTION_WITH(CALLGRAPH) | OPTION_WITH(DEBUG_INFO),
	.check = report_with_check,
	.render = render_xml,
};
