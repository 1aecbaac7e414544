/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/output.h"
#include "libspec/name/glob.h"
#include "opfs/cli/answer.h"
#include "opfs/cli/show.h"
#include "opfs/profile/change.h"
#include "opfs/report/view.h"

/* Compares two slices, for people and for continuous integration. */
struct diff {
	struct cli cli;
	double fail_over; /* percent a share may grow by; < 0: not asked */
};

enum { FIRST_TWO = 2 };

/* What a script has to tell apart: "it grew" from "nobody knows". */
enum { DIFF_GREW = CLI_FAILED, DIFF_UNKNOWN = 3 };

static int set_fail_over(void *ctx, const char *arg, struct err *err)
{
	struct diff *d = ctx;
	char *end;

	errno = 0;
	d->fail_over = strtod(arg, &end);
	if (end == arg || errno || (*end && strcmp(end, "%") != 0) ||
	    !(d->fail_over >= 0 && d->fail_over <= 1e9))
		return err_set(
			err, -EINVAL,
			"--fail-over: \"%s\" is no percentage, as in --fail-over=5%%",
			arg);
	return 0;
}

static const struct opt opts[] = {
	CLI_OPT_SESSION_DIR,
	SHOW_OPTS,
	{ .name = "fail-over",
	  .arg = "PERCENT",
	  .doc = "list what grew by more, for sure, and exit with 1 if anything did",
	  .set = set_fail_over },
	{ .name = "json",
	  .doc = "print the whole comparison as JSON, as report.json has it",
	  .set = answer_set_json },
	{ 0 },
};

static const struct opt_program program = {
	.name = "opfs diff",
	.synopsis = "[--fail-over=PERCENT] [--json] BASE NEW",
	.about = "Shows how NEW differs from the older BASE, as NEW/diff:BASE/report "
		 "does.\n"
		 "Both are paths of the tree, as run1/image:prog; BASE may also be the\n"
		 "absolute path of a session directory, also of an unpacked archive.\n"
		 "Exit status: 0 compared, 1 something grew by more than PERCENT,\n"
		 "2 wrong usage, 3 could not be compared.",
	.opts = opts,
};

/* "run1/image:x" -> "diff:run1/image:x"; a host path is one component. */
static void add_base(const char *base, const char *file, struct strbuf *out)
{
	strbuf_puts(out, "/diff:");
	if (base[0] == '/')
		spec_escape(base, out);
	else
		strbuf_puts(out, base);
	strbuf_printf(out, "/sort:diff/%s", file);
}

static void print_row(const struct view *v, const struct profile_row *row, size_t c)
{
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };

	escape_text(&name, row->name);
	printf("%s\t%s\t%.4f\t%.4f\t", strbuf_str(&name),
	       v->p->cat->images[row->image].shown, view_was_share(v, row, c),
	       view_share(v, row, c));
	if (view_was(row, c))
		printf("%+.4f\n", view_growth(v, row, c));
	else
		printf("+++\n");
}

/* Has its share grown by more than was allowed, and by more than chance explains? */
static bool grew(const struct diff *d, const struct view *v,
		 const struct profile_row *row, size_t c)
{
	if (!view_now(row, c) || !view_sure(v, row, c))
		return false;
	return !view_was(row, c) || view_growth(v, row, c) > d->fail_over;
}

/* How many rows grew; they are listed, unless everything was printed as JSON. */
static size_t list_grown(const struct diff *d, const struct view *v)
{
	size_t nr = 0;

	for (size_t i = 0; i < v->nr_rows; i++)
		for (size_t c = 0; c < v->p->nr_classes; c++) {
			if (!grew(d, v, v->rows[i], c))
				continue;
			if (!nr++ && !d->cli.answer.wanted)
				printf("symbol\timage\told %%\tnew %%\tdiff %%\n");
			if (!d->cli.answer.wanted)
				print_row(v, v->rows[i], c);
		}
	return nr;
}

/* ---- what could not be compared */

/* True if a function could have grown for sure among so many samples. */
static bool may_hide(const struct view *v, const struct profile_row *row)
{
	for (size_t c = 0; c < v->p->nr_classes; c++)
		if (profile_significant(view_now(row, c), v->totals[c], 0,
					v->was_totals[c]))
			return true;
	return false;
}

/* Why the functions of an image are not known, where they would be if its file were still
 * the one that was sampled; else NULL. */
static const char *why_unknown(const struct profile_image *img)
{
	if (img->whole)
		return "its functions are known on one side only";
	if (img->state != SYM_MISSING && img->state != SYM_CHANGED)
		return NULL;
	return "the file that was sampled is gone";
}

static size_t tell_unknown(const struct view *v)
{
	size_t nr = 0;

	for (size_t i = 0; i < v->nr_rows; i++) {
		const struct profile_row *row = v->rows[i];
		const struct profile *p = v->p;
		const char *why = why_unknown(&p->images[row->image]);

		if (row->kind != PROFILE_ROW_IMAGE || !why ||
		    p->cat->images[row->image].label || !may_hide(v, row))
			continue;
		nr++;
		fprintf(stderr,
			"%s: %s: compared as a whole, not by function: %s (status of "
			"both says more)\n",
			program.name, p->cat->images[row->image].shown, why);
	}
	return nr;
}

/* A call tree that the older side has not: more than what should it be? */
static size_t tell_nothing_before(const struct view *v)
{
	uint64_t now = 0, was = 0;

	for (size_t c = 0; c < v->p->nr_classes; c++) {
		now += v->totals[c];
		was += v->was_totals[c];
	}
	if (!now || was)
		return 0;
	fprintf(stderr,
		"%s: the older side has no such samples: compare a part of the call tree "
		"that both have\n",
		program.name);
	return 1;
}

static int judge_rows(const struct diff *d, const struct view *v)
{
	size_t grown = list_grown(d, v);
	size_t unknown = tell_unknown(v) + tell_nothing_before(v);

	if (output_end(program.name))
		return DIFF_UNKNOWN;
	if (grown)
		fprintf(stderr, "%s: %zu row%s grew by more than %g %%\n", program.name,
			grown, grown == 1 ? "" : "s", d->fail_over);
	return grown ? DIFF_GREW : unknown ? DIFF_UNKNOWN : CLI_OK;
}

static int judge(struct diff *d, const struct place *p, const char *path)
{
	const struct view_options by_diff = { .sort = { VIEW_BY_DIFF }, .nr_sort = 1 };
	struct profile *profile;
	struct err err = { 0 };
	struct view view;
	int status = DIFF_UNKNOWN;

	if (tree_shown(d->cli.tree, p, &d->cli.viewer, &profile, &err)) {
		cli_failed(program.name, path, &err);
		return DIFF_UNKNOWN;
	}
	if (view_init(&view, profile, &by_diff)) {
		fprintf(stderr, "%s: out of memory\n", program.name);
	} else {
		status = judge_rows(d, &view);
		view_fini(&view);
	}
	profile_put(profile);
	return status;
}

static int print_report(struct diff *d, const struct place *p, const char *path)
{
	struct err err = { 0 };
	struct text *text = NULL;
	int status;

	if (tree_text(d->cli.tree, p, &d->cli.viewer, &text, &err))
		status = cli_failed(program.name, path, &err);
	else
		status = show_text(&d->cli, program.name, path, p->report, text) ||
			 show_end(&d->cli, program.name);
	text_put(text);
	return status == CLI_OK ? CLI_OK : DIFF_UNKNOWN;
}

static int compare(struct diff *d, const char *base, const char *now)
{
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	bool asked = d->fail_over >= 0;
	struct err err = { 0 };
	struct place p;
	int status = CLI_OK;

	strbuf_puts(&path, now);
	add_base(base, d->cli.answer.wanted ? "report.json" : "report", &path);
	if (strbuf_error(&path))
		return DIFF_UNKNOWN;
	if (tree_walk(d->cli.tree, path.data, &d->cli.viewer, &p, NULL, &err)) {
		cli_failed(program.name, path.data, &err);
		return DIFF_UNKNOWN;
	}
	if (!asked || d->cli.answer.wanted)
		status = print_report(d, &p, path.data);
	if (asked && status == CLI_OK)
		status = judge(d, &p, path.data);
	place_fini(&p);
	return status;
}

int opfs_diff_main(const struct report_set *reports, int argc, char **argv)
{
	struct diff d = { .cli.reports = reports, .fail_over = -1 };
	int nr, status;
	enum opt_result result = opt_parse_all(&program, argc, argv, &d, &nr);

	if (result != OPT_RUN)
		return opt_exit(result);
	if (nr != FIRST_TWO) {
		fprintf(stderr,
			"%s: needs two paths, the older first: %s BASE NEW\n"
			"try '%s --help'\n",
			program.name, program.name, program.name);
		return CLI_USAGE;
	}
	show_init(&d.cli);
	status = cli_find(&d.cli, program.name, WHERE_PATHS, nr, argv + 1) ||
				 cli_open(&d.cli, program.name)
			 ? DIFF_UNKNOWN
			 : compare(&d, argv[1], argv[FIRST_TWO]);
	cli_fini(&d.cli);
	return status;
}
