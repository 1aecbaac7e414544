/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/percent.h"
#include "opfs/report/json_head.h"
#include "opfs/report/memo.h"
#include "opfs/report/report_with.h"

/* report.json, for programs.  Source: doc/report.schema.json. */

#define FORMAT "opfs report"
enum { FORMAT_VERSION = 1 };

#define NO_PLACE UINT32_MAX
#define NR(array) (sizeof(array) / sizeof((array)[0]))

struct doc {
	const struct report_job *job;
	struct json j;
	struct view view;
	const struct profile_row **rows; /* as they are listed */
	size_t nr_rows;
	struct report_lines lines;
	uint32_t *places; /* for each row of the profile its place in @rows; NO_PLACE */
	struct memo *shares, *errors; /* of each class */
};

static void doc_fini(struct doc *d)
{
	view_fini(&d->view);
	report_lines_fini(&d->lines);
	free(d->rows);
	free(d->places);
	free(d->shares);
	free(d->errors);
}

/* ---- which rows */

static void list_row(struct doc *d, const struct profile_row *row)
{
	uint32_t at = (uint32_t)(row - d->view.p->rows);

	if (d->places[at] != NO_PLACE)
		return;
	d->places[at] = (uint32_t)d->nr_rows;
	d->rows[d->nr_rows++] = row;
}

static bool excluded(const struct doc *d, const struct profile_row *row)
{
	return d->view.options.exclude_dependent && row->app != row->image;
}

/* Rows that were filtered out but are an end of an arc follow the other rows. */
static void list_aside(struct doc *d)
{
	const struct profile *p = d->view.p;
	size_t nr_shown = d->nr_rows;

	for (size_t i = 0; i < p->nr_arcs; i++) {
		const uint32_t ends[] = { p->arcs[i].caller, p->arcs[i].callee };

		for (int e = 0; e < 2; e++)
			if (d->places[ends[!e]] < nr_shown && p->rows[ends[e]].aside &&
			    !excluded(d, &p->rows[ends[e]]))
				list_row(d, &p->rows[ends[e]]);
	}
}

static size_t format_share(uint64_t samples, uint64_t total, char out[PERCENT_MAX])
{
	return json_format_real(percent_of(samples, total), out, PERCENT_MAX);
}

static size_t format_error(uint64_t samples, uint64_t total, char out[PERCENT_MAX])
{
	return json_format_real(percent_error(samples, total), out, PERCENT_MAX);
}

static int init_memos(struct doc *d)
{
	size_t nr = d->view.p->nr_classes;

	d->shares = calloc(nr + 1, sizeof(*d->shares));
	d->errors = calloc(nr + 1, sizeof(*d->errors));
	for (size_t c = 0; d->shares && d->errors && c < nr; c++) {
		d->shares[c].format = format_share;
		d->errors[c].format = format_error;
		d->shares[c].ctx = d->errors[c].ctx = d->view.totals[c];
	}
	return d->shares && d->errors ? 0 : -ENOMEM;
}

static int list_rows(struct doc *d, const struct view_options *how)
{
	const struct profile *p = d->job->p;

	if (view_init(&d->view, p, how) || init_memos(d))
		return -ENOMEM;
	d->rows = calloc(p->nr_rows + 1, sizeof(*d->rows));
	d->places = malloc((p->nr_rows + 1) * sizeof(*d->places));
	if (!d->rows || !d->places)
		return -ENOMEM;
	for (size_t i = 0; i < p->nr_rows; i++)
		d->places[i] = NO_PLACE;
	for (size_t i = 0; i < d->view.nr_rows; i++)
		list_row(d, d->view.rows[i]);
	if (how->only_called)
		list_aside(d);
	return 0;
}

/* ---- a row */

static void add_counts(struct doc *d, const char *key, const uint64_t *samples)
{
	json_key(&d->j, key);
	json_open(&d->j, '[');
	for (size_t c = 0; c < d->view.p->nr_classes; c++)
		json_number(&d->j, samples[c]);
	json_close(&d->j, ']');
}

struct figure { /* a member that a row has once for each class */
	const char *key;
	void (*add)(struct doc *d, const struct profile_row *row, size_t class);
};

static void add_samples(struct doc *d, const struct profile_row *row, size_t class)
{
	json_number(&d->j, view_now(row, class));
}

static void add_percent(struct doc *d, const struct profile_row *row, size_t class)
{
	memo_add(&d->shares[class], view_now(row, class), json_value(&d->j));
}

static void add_error(struct doc *d, const struct profile_row *row, size_t class)
{
	memo_add(&d->errors[class], view_now(row, class), json_value(&d->j));
}

static void add_base_samples(struct doc *d, const struct profile_row *row, size_t class)
{
	json_number(&d->j, view_was(row, class));
}

static void add_base_percent(struct doc *d, const struct profile_row *row, size_t class)
{
	json_real(&d->j, view_was_share(&d->view, row, class));
}

static void add_difference(struct doc *d, const struct profile_row *row, size_t class)
{
	json_real(&d->j, view_share(&d->view, row, class) -
				 view_was_share(&d->view, row, class));
}

static void add_sure(struct doc *d, const struct profile_row *row, size_t class)
{
	json_bool(&d->j, view_sure(&d->view, row, class));
}

static const struct figure figures[] = {
	{ "samples", add_samples },
	{ "percent", add_percent },
	{ "percent_error", add_error },
};
static const struct figure base_figures[] = {
	/* with diff: */
	{ "samples", add_base_samples },
	{ "percent", add_base_percent },
	{ "difference", add_difference },
	{ "sure", add_sure },
};

static void add_figures(struct doc *d, const struct profile_row *row,
			const struct figure *of, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		json_key(&d->j, of[i].key);
		json_open(&d->j, '[');
		for (size_t c = 0; c < d->view.p->nr_classes; c++)
			of[i].add(d, row, c);
		json_close(&d->j, ']');
	}
}

static void add_base(struct doc *d, const struct profile_row *row)
{
	json_key(&d->j, "base");
	json_open(&d->j, '{');
	add_figures(d, row, base_figures, NR(base_figures));
	json_close(&d->j, '}');
}

static void add_symbol(struct doc *d, const struct profile_row *row)
{
	static const char *const kinds[] = {
		[PROFILE_ROW_SYMBOL] = "symbol",
		[PROFILE_ROW_NONE] = "outside",
		[PROFILE_ROW_IMAGE] = "image",
	};
	struct json *j = &d->j;

	json_key(j, "kind");
	json_string(j, kinds[row->kind]);
	json_key(j, "symbol");
	json_string(j, row->name);
	json_key(j, "mangled");
	json_string(j, row->sym ? sym_name(row->sym) : NULL);
	json_key(j, "vma");
	if (row->sym)
		json_address(j, row->vma);
	else
		json_null(j);
	json_key(j, "size");
	if (row->sym)
		json_number(j, row->sym->size);
	else
		json_null(j);
}

/* "file" and "line", null where they are not known. */
static void add_place(struct doc *d, const struct line_place *at)
{
	json_key(&d->j, "file");
	json_string(&d->j, at ? at->file : NULL);
	json_key(&d->j, "line");
	if (at && at->line)
		json_number(&d->j, at->line);
	else
		json_null(&d->j);
}

static void add_hits(struct doc *d, const struct profile_row *row)
{
	struct json *j = &d->j;
	size_t nr_classes = d->view.p->nr_classes;
	struct line_place at;

	json_key(j, "hits");
	json_open(j, '[');
	for (size_t i = 0; i < row->nr_hits; i++) {
		json_open(j, '{');
		json_key(j, "offset");
		json_number(j, row->hits[i] - (row->sym ? row->sym->off : 0));
		json_key(j, "vma");
		json_address(j, profile_hit_vma(d->view.p, row, i));
		add_counts(d, "samples", profile_hit_samples(row, i, nr_classes));
		if (d->lines.hits)
			add_place(d, report_line_of_hit(&d->lines, row, i, &at) ? &at
										: NULL);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void add_row(struct doc *d, const struct profile_row *row)
{
	const struct catalog_image *images = d->view.p->cat->images;
	struct line_place at;

	json_line(&d->j);
	json_open(&d->j, '{');
	json_key(&d->j, "application");
	json_string(&d->j, images[row->app].shown);
	json_key(&d->j, "image");
	json_string(&d->j, images[row->image].shown);
	add_symbol(d, row);
	add_figures(d, row, figures, NR(figures));
	if (d->view.p->base)
		add_base(d, row);
	if (d->lines.shown)
		add_place(d, report_line_of_row(&d->lines, row, &at) ? &at : NULL);
	if (report_with(d->job, OPTION_WITH(DETAILS)))
		add_hits(d, row);
	json_close(&d->j, '}');
}

static int add_rows(struct doc *d, struct err *err)
{
	json_line(&d->j);
	json_key(&d->j, "rows");
	json_open(&d->j, '[');
	for (size_t i = 0; i < d->nr_rows; i++) {
		int rc = report_step(d->job, i, d->j.out, err);

		if (rc)
			return rc;
		if (i + 2 * VIEW_SOON < d->nr_rows)
			__builtin_prefetch(d->rows[i + 2 * VIEW_SOON]);
		if (i + VIEW_SOON < d->nr_rows)
			view_fetch(d->rows[i + VIEW_SOON]);
		add_row(d, d->rows[i]);
	}
	json_close(&d->j, ']');
	return 0;
}

/* ---- arcs, whose ends are indices into "rows" */

/* Sorted by place: the rows of the profile are not sorted by name. */
static int compare_arcs(const void *x, const void *y, void *ctx)
{
	const struct profile_arc *a = *(const struct profile_arc *const *)x;
	const struct profile_arc *b = *(const struct profile_arc *const *)y;
	const uint32_t *places = ctx;

	if (a->caller != b->caller)
		return places[a->caller] < places[b->caller] ? -1 : 1;
	if (a->callee != b->callee)
		return places[a->callee] < places[b->callee] ? -1 : 1;
	return 0;
}

/* Those with both ends in "rows", in @arcs; returns how many. */
static size_t shown_arcs(const struct doc *d, const struct profile_arc **arcs)
{
	const struct profile *p = d->view.p;
	size_t nr = 0;

	for (size_t i = 0; i < p->nr_arcs; i++)
		if (d->places[p->arcs[i].caller] != NO_PLACE &&
		    d->places[p->arcs[i].callee] != NO_PLACE)
			arcs[nr++] = &p->arcs[i];
	qsort_r(arcs, nr, sizeof(*arcs), compare_arcs, d->places);
	return nr;
}

static int add_arcs(struct doc *d, struct err *err)
{
	CLEANUP(free_ptr) const struct profile_arc **arcs = NULL;
	size_t nr;

	arcs = calloc(d->view.p->nr_arcs + 1, sizeof(*arcs));
	if (!arcs)
		return err_set(err, -ENOMEM, "out of memory");
	nr = shown_arcs(d, arcs);
	json_line(&d->j);
	json_key(&d->j, "arcs");
	json_open(&d->j, '[');
	for (size_t i = 0; i < nr; i++) {
		const struct profile_arc *arc = arcs[i];
		int rc = report_step(d->job, i, d->j.out, err);

		if (rc)
			return rc;
		json_line(&d->j);
		json_open(&d->j, '{');
		json_key(&d->j, "caller");
		json_number(&d->j, d->places[arc->caller]);
		json_key(&d->j, "callee");
		json_number(&d->j, d->places[arc->callee]);
		add_counts(d, "samples", arc->samples);
		json_close(&d->j, '}');
	}
	json_close(&d->j, ']');
	return 0;
}

/* ---- all of it */

static void add_head(struct doc *d)
{
	json_open(&d->j, '{');
	json_line(&d->j);
	json_key(&d->j, "format");
	json_string(&d->j, FORMAT);
	json_line(&d->j);
	json_key(&d->j, "version");
	json_number(&d->j, FORMAT_VERSION);
	json_line(&d->j);
	json_key(&d->j, "path");
	json_string(&d->j, d->job->path);
	if (d->view.p->base) {
		json_line(&d->j);
		json_key(&d->j, "base_path");
		json_string(&d->j, d->job->base_path);
	}
}

static int add_document(struct doc *d, struct err *err)
{
	int rc;

	add_head(d);
	json_classes(&d->j, &d->view);
	json_sessions(&d->j, d->view.p);
	if (json_images(&d->j, d->view.p))
		return report_no_memory(err);
	json_damaged(&d->j, d->view.p);
	rc = add_rows(d, err);
	if (!rc && report_with(d->job, OPTION_WITH(CALLGRAPH)))
		rc = add_arcs(d, err);
	json_line(&d->j);
	json_close(&d->j, '}');
	strbuf_putc(d->j.out, '\n');
	return rc;
}

static int render_json(const struct report_job *job, struct strbuf *out, struct err *err)
{
	CLEANUP(doc_fini) struct doc d = { .job = job, .j = { .out = out } };
	struct view_options how;
	int rc = report_lines_load(job, &d.lines, &how, err);

	if (rc)
		return rc;
	how.only_called = report_with(job, OPTION_WITH(CALLGRAPH));
	if (list_rows(&d, &how))
		return report_no_memory(err);
	rc = add_document(&d, err);
	return rc ? rc : report_done(out, err);
}

const struct report report_json = {
	.name = "report.json",
	.doc = "the same as JSON, with losses and images: see report.schema.json",
	.names_path = true,
	.needs = PROFILE_SYMBOLS,
	.needs_more = report_with_needs,
	.more = true,
	.tags = REPORT_TAGS_ROWS | OPTION_TAG(SORT) | OPTION_TAG(DIFF),
	.words = REPORT_WORDS_ROWS | OPTION_WITH(DETAILS) | OPTION_WITH(CALLGRAPH) |
		 OPTION_WITH(DEBUG_INFO),
	.check = report_with_check,
	.render = render_json,
};
