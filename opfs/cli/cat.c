/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/percent.h"
#include "base/progress.h"
#include "base/suggest.h"
#include "opfs/cli/cli.h"
#include "opfs/cli/show.h"
#include "opfs/profile/profile.h"
#include "opfs/session/catalog_load.h"

struct cat {
	struct cli cli;
	const char *sample_file, *binary;
	bool warned; /* of what the session lacks */
};

static int set_sample_file(void *ctx, const char *arg, struct err *err)
{
	struct cat *c = ctx;

	(void)err;
	c->sample_file = arg;
	return 0;
}

static int set_binary(void *ctx, const char *arg, struct err *err)
{
	struct cat *c = ctx;

	(void)err;
	c->binary = arg;
	return 0;
}

static const struct opt opts[] = {
	CLI_OPT_SESSION_DIR,
	SHOW_OPTS,
	{ .name = "sample-file",
	  .arg = "FILE",
	  .doc = "show this sample file alone; PATH is then the name of a report",
	  .set = set_sample_file },
	{ .name = "binary",
	  .arg = "FILE",
	  .doc = "with --sample-file: the program or library that was sampled",
	  .set = set_binary },
	{ 0 },
};

static const struct opt_program program = {
	.name = "opfs cat",
	.synopsis = "PATH...",
	.about = "Prints files of the tree that opfs mount shows, without a mount.\n"
		 "PATH is relative to the tree's root, as current/image:/bin/ls/report.",
	.opts = opts,
};

static bool is_status(const struct place *p)
{
	return !p->report || p->report->tells_losses;
}

/* The texts are laid out as OProfile's and do not say what is missing in them. */
static void warn_of_losses(struct cat *c, const struct place *p)
{
	uint64_t lost = 0, taken = 0;
	bool many;

	if (c->warned || is_status(p) || !p->cat)
		return;
	for (size_t i = 0; i < p->cat->nr_dirs; i++) {
		lost += spec_stats_lost(&p->cat->dirs[i].stats);
		taken += p->cat->dirs[i].stats.value[SPEC_STAT_TAKEN];
	}
	taken = taken ? taken : p->cat->total + lost; /* OProfile does not say */
	many = lost > taken / 100;
	if (!many && !p->cat->nr_bad)
		return;
	c->warned = true;
	fprintf(stderr, "%s: note: ", program.name);
	if (p->cat->nr_bad)
		fprintf(stderr, "%zu damaged file%s left out%s", p->cat->nr_bad,
			p->cat->nr_bad == 1 ? "" : "s", many ? ", " : "");
	if (many)
		fprintf(stderr, "%.3g %% of the samples were lost",
			percent_of(lost, taken));
	fprintf(stderr, ": see %s/status\n", p->cat->dirs[0].session);
}

/* On a terminal: the place with short names, instead of *p, if there is one. */
static void shorten_names(struct cat *c, const char *path, struct place *p)
{
	CLEANUP(free_ptr) char *shorter = show_short_names(&c->cli, path, p);
	struct place with;

	if (!shorter ||
	    tree_walk(c->cli.tree, shorter, &c->cli.viewer, &with, NULL, NULL))
		return;
	if (tree_check(c->cli.tree, &with, &c->cli.viewer, NULL)) {
		place_fini(&with);
		return;
	}
	place_fini(p);
	*p = with;
}

/* Standard output, to which reports are written while they are made. */
struct output {
	struct strbuf_sink sink;
	struct cat *c;
	const struct place *p;
	const char *path;
	bool begun, failed;
};

enum { PIECE = 1 << 16 };

static int write_piece(struct strbuf_sink *s, struct strbuf *b)
{
	struct output *o = (void *)((char *)s - offsetof(struct output, sink));

	if (!o->begun)
		warn_of_losses(o->c, o->p);
	o->begun = true;
	if (cli_write(program.name, strbuf_str(b), b->len, o->path))
		o->failed = true;
	strbuf_reset(b);
	return o->failed ? -EIO : 0;
}

/* -ENOTSUP: it is to be shown otherwise. */
static int write_place(struct cat *c, const char *path, const struct place *p)
{
	struct output o = { .sink = { .at_least = PIECE, .write = write_piece },
			    .c = c,
			    .p = p,
			    .path = path };
	struct err err = { 0 };
	int rc = show_plain(&c->cli, p->report)
			 ? tree_write(c->cli.tree, p, &c->cli.viewer, &o.sink, &err)
			 : -ENOTSUP;

	if (!rc || rc == -ENOTSUP)
		return rc;
	return o.failed ? CLI_FAILED : cli_failed(program.name, path, &err);
}

static int show_place(struct cat *c, const char *path, const struct place *p)
{
	struct err err = { 0 };
	struct text *text;
	int rc;

	if (place_is_file(p))
		rc = tree_text(c->cli.tree, p, &c->cli.viewer, &text, &err);
	else
		rc = err_set(
			&err, -EISDIR,
			"is a directory; it holds files like report (see \"opfs ls\")");
	if (rc)
		return cli_failed(program.name, path, &err);
	warn_of_losses(c, p);
	rc = show_text(&c->cli, program.name, path, p->report, text);
	text_put(text);
	return rc;
}

static int print_path(struct cat *c, const char *typed)
{
	CLEANUP(free_ptr) char *path = NULL;
	struct err err = { 0 };
	struct place p;
	int status;

	if (cli_walk(&c->cli, typed, &path, &p, NULL, &err))
		return cli_failed(program.name, path ? path : typed, &err);
	shorten_names(c, path, &p);
	status = write_place(c, path, &p);
	if (status == -ENOTSUP)
		status = show_place(c, path, &p);
	place_fini(&p);
	return status;
}

/* ---- --sample-file */

/* What symbols are read from, instead of where the file says it was. */
static int use_binary(struct catalog *c, const char *binary, struct spec_image_row *row,
		      char *real, struct err *err)
{
	struct catalog_image *img = &c->images[c->files[0].image];

	if (!realpath(binary, real))
		return err_errno(err, -errno, "%s", binary);
	*row = (struct spec_image_row){ .stored = img->shown,
					.real_path = real,
					.mtime = c->files[0].header.mtime };
	img->row = row;
	return 0;
}

/* Why an image is shown as itself, where the text does not say it. */
static void tell_unresolved(const struct cat *c, const struct profile *p,
			    const struct report *report)
{
	if (!profile_has_symbols(report->needs) || report->tells_losses)
		return;
	for (size_t i = 0; i < p->cat->nr_images; i++) {
		const struct profile_image *img = &p->images[i];

		if (!img->used || sym_usable(img->state))
			continue;
		fprintf(stderr, "%s: %s: shown without symbols: %s\n", program.name,
			c->binary ? c->binary : p->cat->images[i].shown,
			img->reason ? img->reason : sym_state_name(img->state));
	}
}

static int render_sample_file(struct cat *c, struct catalog *cat,
			      const struct report *report, struct sym_cache *syms,
			      struct strbuf *out, struct err *err)
{
	const uint32_t only = 0;
	const struct options o = { .demangle = SYM_DEMANGLE_NORMAL };
	const struct profile_query q = { .cat = cat,
					 .selected = &only,
					 .nr_selected = 1,
					 .needs = report->needs,
					 .demangle = o.demangle,
					 .syms = syms,
					 .viewer = &c->cli.viewer };
	struct report_job job = { .o = &o,
				  .v = &c->cli.viewer,
				  .syms = syms,
				  .reports = c->cli.reports,
				  .path = c->sample_file };
	struct profile *p;
	int rc = profile_load(&q, &p, err);

	if (rc)
		return rc;
	job.p = p;
	if (report->check)
		rc = report->check(&job, err);
	rc = rc ? rc : report->render(&job, out, err);
	if (!rc)
		tell_unresolved(c, p, report);
	profile_put(p);
	return rc;
}

static int print_sample_file(struct cat *c, const struct report *report)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };
	struct sym_server *server = sym_server_new(NULL);
	struct cache *cache = cache_new(64 << 20);
	struct sym_cache *syms = server && cache ? sym_cache_new(server, cache) : NULL;
	struct spec_image_row row;
	struct catalog *cat = NULL;
	struct err err = { 0 };
	struct text *text = NULL;
	char real[PATH_MAX];
	int status;
	int rc = syms ? catalog_load_file(c->sample_file, &cat, &err)
		      : err_set(&err, -ENOMEM, "out of memory");

	if (!rc && c->binary)
		rc = use_binary(cat, c->binary, &row, real, &err);
	rc = rc ? rc : render_sample_file(c, cat, report, syms, &out, &err);
	rc = rc ? rc : text_new(&out, &text, &err);
	catalog_put(cat);
	sym_cache_free(syms);
	cache_free(cache);
	sym_server_free(server);
	if (rc)
		return cli_failed(program.name, c->sample_file, &err);
	status = show_text(&c->cli, program.name, report->name, report, text);
	text_put(text);
	return status;
}

static bool is_for_file(const struct report *r)
{
	return r && r->render && !r->entries && !r->symbol;
}

static int no_report(const struct report_set *set, const char *name)
{
	CLEANUP(strbuf_fini) struct strbuf meant = { 0 };
	struct nearest near = { .typed = name };

	for (size_t i = 0; i < set->nr; i++)
		if (is_for_file(set->all[i]))
			nearest_offer(&near, set->all[i]->name);
	nearest_tell(&near, "", &meant);
	fprintf(stderr,
		"%s: %s: no report of that name for a sample file%s\n"
		"try '%s --help'\n",
		program.name, name, strbuf_str(&meant), program.name);
	return CLI_USAGE;
}

static int sample_file_main(struct cat *c, int nr, char **names)
{
	int status = CLI_OK;

	progress_show(program.name);
	c->cli.viewer = (struct viewer){ .cred = { .uid = geteuid(), .gid = getegid() } };
	for (int i = 0; i < nr; i++) {
		const struct report *report = report_find(c->cli.reports, names[i]);

		if (!is_for_file(report))
			return no_report(c->cli.reports, names[i]);
		if (print_sample_file(c, report))
			status = CLI_FAILED;
	}
	return status;
}

int opfs_cat_main(const struct report_set *reports, int argc, char **argv)
{
	struct cat c = { .cli.reports = reports };
	int nr, status;
	enum opt_result result = opt_parse_all(&program, argc, argv, &c, &nr);

	if (result != OPT_RUN)
		return opt_exit(result);
	if (!nr || (c.binary && !c.sample_file)) {
		fprintf(stderr, "%s: %s\ntry '%s --help'\n", program.name,
			nr ? "--binary needs --sample-file" : "which PATH?",
			program.name);
		return CLI_USAGE;
	}
	show_init(&c.cli);
	if (c.sample_file) {
		status = sample_file_main(&c, nr, argv + 1);
		nr = 0;
	} else {
		status = cli_find(&c.cli, program.name, WHERE_PATHS, nr, argv + 1) ||
			 cli_open(&c.cli, program.name);
	}
	for (int i = 1; i <= nr && c.cli.tree; i++)
		if (print_path(&c, argv[i]))
			status = CLI_FAILED;
	if (show_end(&c.cli, program.name))
		status = CLI_FAILED;
	cli_fini(&c.cli);
	return status;
}
