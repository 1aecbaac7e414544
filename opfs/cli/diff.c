/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/percent.h"
#include "libspec/name/glob.h"
#include "opfs/cli/cli.h"
#include "opfs/profile/compare.h"

/* Compares two slices, for people and for continuous integration. */
struct diff {
	struct cli cli;
	double fail_over; /* percent a share may grow by; < 0: not asked */
};

enum { FIRST_TWO = 2 };

static int set_fail_over(void *ctx, const char *arg, struct err *err)
{
	struct diff *d = ctx;
	char *end;

	errno = 0;
	d->fail_over = strtod(arg, &end);
	if (end == arg || errno || (*end && strcmp(end, "%") != 0) ||
	    !(d->fail_over >= 0 && d->fail_over <= 1e9))
		return err_set(err, -EINVAL, "not a percentage, as in --fail-over=5%%");
	return 0;
}

static const struct opt opts[] = {
	CLI_OPT_SESSION_DIR,
	{ .name = "fail-over",
	  .arg = "PERCENT",
	  .doc = "list what grew by more, for sure, and exit with 1 if anything did",
	  .set = set_fail_over },
	{ 0 },
};

static const struct opt_program program = {
	.name = "opfs diff",
	.synopsis = "[--fail-over=PERCENT] BASE NEW",
	.about = "Shows how NEW differs from the older BASE, as NEW/diff:BASE/report "
		 "does.\n"
		 "Both are paths of the tree, as run1/image:prog; BASE may also be the\n"
		 "absolute path of a session directory, also of an unpacked archive.",
	.opts = opts,
};

/* "run1/image:x" -> "diff:run1/image:x"; a host path is one component. */
static void add_base(const char *base, struct strbuf *out)
{
	strbuf_puts(out, "/diff:");
	if (base[0] == '/')
		spec_escape(base, out);
	else
		strbuf_puts(out, base);
	strbuf_puts(out, "/sort:diff/report");
}

static void print_row(const struct profile *p, const struct profile_row *row, size_t c)
{
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };
	const struct profile_class *class = &p->classes[c];
	uint64_t was = row->was ? row->was[c] : 0;
	double growth =
		profile_growth(row->samples[c], class->total, was, class->was_total);

	escape_text(&name, row->name);
	printf("%s\t%s\t%.4f\t%.4f\t", strbuf_str(&name),
	       p->cat->images[row->image].shown, percent_of(was, class->was_total),
	       percent_of(row->samples[c], class->total));
	if (was)
		printf("%+.4f\n", growth);
	else
		printf("+++\n");
}

/* Has its share grown by more than was allowed, and by more than chance explains? */
static bool grew(const struct diff *d, const struct profile *p,
		 const struct profile_row *row, size_t c)
{
	const struct profile_class *class = &p->classes[c];
	uint64_t now = row->gone ? 0 : row->samples[c], was = row->was ? row->was[c] : 0;

	if (!profile_significant(now, class->total, was, class->was_total))
		return false;
	if (!was)
		return now > 0;
	return profile_growth(now, class->total, was, class->was_total) > d->fail_over;
}

/* A program built anew in its place took the functions of the older side away. */
static void tell_wholes(const struct profile *p)
{
	for (size_t i = 0; i < p->cat->nr_images; i++)
		if (p->images[i].whole)
			fprintf(stderr,
				"%s: note: %s: compared as a whole: its functions are "
				"known "
				"on one side only; keep archive.tar of a session before "
				"the "
				"program is built anew\n",
				program.name, p->cat->images[i].shown);
}

/* CLI_FAILED if any row grew. */
static int judge(const struct diff *d, const struct profile *p)
{
	size_t nr = 0;

	tell_wholes(p);
	for (size_t i = 0; i < p->nr_rows; i++) {
		for (size_t c = 0; c < p->nr_classes; c++) {
			if (!grew(d, p, &p->rows[i], c))
				continue;
			if (!nr++)
				printf("symbol\timage\told %%\tnew %%\tdiff %%\n");
			print_row(p, &p->rows[i], c);
		}
	}
	if (cli_flush(program.name))
		return CLI_FAILED;
	if (!nr)
		return CLI_OK;
	fprintf(stderr, "%s: %zu row%s grew by more than %g %%\n", program.name, nr,
		nr == 1 ? "" : "s", d->fail_over);
	return CLI_FAILED;
}

static int print_report(struct diff *d, const struct place *p, const char *path)
{
	struct err err = { 0 };
	struct text *text;
	int status;

	if (tree_text(d->cli.tree, p, &d->cli.viewer, &text, &err))
		return cli_failed(program.name, path, &err);
	status = cli_write_text(program.name, text, path);
	text_put(text);
	return status;
}

static int compare(struct diff *d, const char *base, const char *now)
{
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	struct profile *profile;
	struct err err = { 0 };
	struct place p;
	int status;

	strbuf_puts(&path, now);
	add_base(base, &path);
	if (strbuf_error(&path))
		return CLI_FAILED;
	if (tree_walk(d->cli.tree, path.data, &d->cli.viewer, &p, NULL, &err))
		return cli_failed(program.name, path.data, &err);
	if (d->fail_over < 0) {
		status = print_report(d, &p, path.data);
	} else if (tree_shown(d->cli.tree, &p, &d->cli.viewer, &profile, &err)) {
		status = cli_failed(program.name, path.data, &err);
	} else {
		status = judge(d, profile);
		profile_put(profile);
	}
	place_fini(&p);
	return status;
}

int opfs_diff_main(const struct report_set *reports, int argc, char **argv)
{
	struct diff d = { .cli.reports = reports, .fail_over = -1 };
	int nr, status;
	enum opt_result result = cli_parse(&program, argc, argv, &d, &nr);

	if (result != OPT_RUN)
		return opt_exit(result);
	if (nr != FIRST_TWO) {
		fprintf(stderr,
			"%s: needs two paths, the older first: %s BASE NEW\n"
			"try '%s --help'\n",
			program.name, program.name, program.name);
		return CLI_USAGE;
	}
	status = cli_open(&d.cli, program.name);
	if (!status)
		status = compare(&d, argv[1], argv[FIRST_TWO]);
	cli_fini(&d.cli);
	return status;
}
