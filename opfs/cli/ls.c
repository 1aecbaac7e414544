/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/vec.h"
#include "libspec/name/clock.h"
#include "opfs/cli/answer.h"

struct ls {
	struct cli cli;
	bool longs;
	const char *path; /* being listed */
};

struct entry {
	char *name;
	enum place_kind kind;
};

struct entries {
	struct entry *data;
	size_t len, cap;
};

static void entries_fini(struct entries *list)
{
	vec_for(list, e)
		free(e->name);
	vec_fini(list);
}

static int set_long(void *ctx, const char *arg, struct err *err)
{
	struct ls *ls = ctx;

	(void)arg;
	(void)err;
	ls->longs = true;
	return 0;
}

static const struct opt opts[] = {
	CLI_OPT_SESSION_DIR,
	{ .letter = 'l',
	  .name = "long",
	  .doc = "kind, size and time too; the size of a directory is its samples",
	  .set = set_long },
	ANSWER_OPT,
	{ 0 },
};

static const struct opt_program program = {
	.name = "opfs ls",
	.synopsis = "[-l] [--json] [PATH]...",
	.about = "Lists directories of the tree that opfs mount shows, without a mount.\n"
		 "PATH is relative to the tree's root, as current/image.",
	.opts = opts,
};

static int keep(void *ctx, const struct tree_entry *e)
{
	struct entries *list = ctx;
	struct entry copy = { strdup(e->name), e->kind };

	if (copy.name && !vec_push(list, copy))
		return 0;
	free(copy.name);
	return -ENOMEM;
}

/* Bytes of a file, samples of a directory. */
static int size_of(struct ls *ls, const struct place *p, uint64_t *size, struct err *err)
{
	struct text *text;
	int rc;

	*size = place_samples(p);
	if (!place_is_file(p))
		return 0;
	rc = tree_text(ls->cli.tree, p, &ls->cli.viewer, &text, err);
	if (rc)
		return rc;
	*size = text->len;
	text_put(text);
	return 0;
}

static bool is_kind(enum place_kind kind, mode_t mode)
{
	return (place_kinds[kind].mode & S_IFMT) == mode;
}

static void print_long(const struct place *p, const char *name, uint64_t size)
{
	time_t when = (time_t)(place_mtime_ns(p) / SPEC_NS_PER_S);
	bool link = p->kind == PLACE_LINK;
	char date[32] = "-";
	struct tm tm;

	if (when && localtime_r(&when, &tm))
		strftime(date, sizeof(date), "%Y-%m-%d %H:%M", &tm);
	printf("%c %12" PRIu64 " %-16s %s%s%s\n",
	       link               ? 'l'
	       : place_is_file(p) ? '-'
				  : 'd',
	       link ? strlen(p->target) : size, date, name, link ? " -> " : "",
	       link ? p->target : "");
}

/* Begins an object, that of a directory of the command line or of what is in it. */
static void add_json(struct json *j, const char *key, const char *name,
		     enum place_kind kind, const struct place *p, uint64_t size)
{
	CLEANUP(strbuf_fini) struct strbuf time = { 0 };
	bool link = is_kind(kind, S_IFLNK), file = is_kind(kind, S_IFREG);

	if (p && place_mtime_ns(p))
		spec_clock_utc(place_mtime_ns(p), &time);
	json_line(j);
	json_open(j, '{');
	json_text(j, key, name);
	json_text(j, "kind", link ? "link" : file ? "file" : "directory");
	json_text(j, "target", p && link ? p->target : NULL);
	json_figure(j, "samples", p && !link && !file, size);
	json_figure(j, "bytes", p && file, size);
	json_text(j, "time", time.len ? strbuf_str(&time) : NULL);
}

/* Begins an entry's object, or prints its line.  @p: NULL without -l. */
static int show(struct ls *ls, const char *key, const char *name, enum place_kind kind,
		const struct place *p)
{
	struct json *j = answer_json(&ls->cli);
	struct err err = { 0 };
	uint64_t size = 0;
	int status = CLI_OK;

	if (p && p->kind != PLACE_LINK && size_of(ls, p, &size, &err)) {
		status = cli_failed(program.name, name, &err);
		p = NULL;
	}
	if (j)
		add_json(j, key, name, kind, p, size);
	else if (p)
		print_long(p, name, size);
	else if (!ls->longs)
		puts(name);
	return status;
}

static int show_entry(struct ls *ls, const struct place *dir, const struct entry *e)
{
	struct json *j = answer_json(&ls->cli);
	struct err err = { 0 };
	struct place p = { 0 };
	bool looked = ls->longs;
	int status = CLI_OK;

	if (looked && tree_step(ls->cli.tree, dir, e->name, strlen(e->name),
				&ls->cli.viewer, &p, &err)) {
		status = cli_failed(program.name, e->name, &err);
		looked = false;
	}
	if (show(ls, "name", e->name, looked ? p.kind : e->kind, looked ? &p : NULL))
		status = CLI_FAILED;
	if (j)
		json_close(j, '}');
	if (looked)
		place_fini(&p);
	return status;
}

static int list_entries(struct ls *ls, const struct place *dir)
{
	CLEANUP(entries_fini) struct entries list = { 0 };
	struct err err = { 0 };
	int status = CLI_OK;

	if (tree_list(ls->cli.tree, dir, &ls->cli.viewer, keep, &list, &err))
		status = cli_failed(program.name, ls->path, &err);
	vec_for(&list, e)
		if (show_entry(ls, dir, e))
			status = CLI_FAILED;
	return status;
}

static int list_place(struct ls *ls, const struct place *p)
{
	struct json *j = answer_json(&ls->cli);
	bool file = place_is_file(p);
	int status = CLI_OK;

	if (j || file)
		status = show(ls, "path", ls->path, p->kind, ls->longs ? p : NULL);
	if (j) {
		json_key(j, "entries");
		if (file)
			json_null(j);
		else
			json_open(j, '[');
	}
	if (!file && list_entries(ls, p))
		status = CLI_FAILED;
	if (j && !file)
		json_close(j, ']');
	if (j)
		json_close(j, '}');
	return status;
}

static int list_path(struct ls *ls, const char *typed, bool heading)
{
	CLEANUP(free_ptr) char *path = NULL;
	struct err err = { 0 };
	struct place p;
	int status;

	if (cli_walk(&ls->cli, typed, &path, &p, NULL, &err))
		return cli_failed(program.name, path ? path : typed, &err);
	ls->path = path;
	if (heading && !place_is_file(&p) && !answer_json(&ls->cli))
		printf("%s:\n", path);
	status = list_place(ls, &p);
	place_fini(&p);
	return status;
}

int opfs_ls_main(const struct report_set *reports, int argc, char **argv)
{
	struct ls ls = { .cli.reports = reports };
	int nr, status;
	enum opt_result result = opt_parse_all(&program, argc, argv, &ls, &nr);

	if (result != OPT_RUN)
		return opt_exit(result);
	status = cli_find(&ls.cli, program.name, WHERE_PATHS, nr, argv + 1) ||
		 cli_open(&ls.cli, program.name);
	if (ls.cli.tree)
		answer_begin(&ls.cli, program.name, "paths");
	if (!status && !nr)
		status = list_path(&ls, ls.cli.where.at ? ls.cli.where.at : "/", false);
	for (int i = 1; i <= nr && ls.cli.tree; i++)
		if (list_path(&ls, argv[i], nr > 1))
			status = CLI_FAILED;
	if (ls.cli.tree)
		answer_list_end(&ls.cli);
	if (answer_end(&ls.cli, program.name))
		status = CLI_FAILED;
	cli_fini(&ls.cli);
	return status;
}
