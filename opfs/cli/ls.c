/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/vec.h"
#include "opfs/cli/cli.h"

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
	{ 0 },
};

static const struct opt_program program = {
	.name = "opfs ls",
	.synopsis = "[-l] [PATH]...",
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

static int print_long(struct ls *ls, const struct place *p, const char *name)
{
	time_t when = (time_t)(place_mtime_ns(p) / 1000000000u);
	bool link = p->kind == PLACE_LINK;
	struct err err = { 0 };
	char date[32] = "-";
	uint64_t size = 0;
	struct tm tm;

	if (link)
		size = strlen(p->target);
	else if (size_of(ls, p, &size, &err))
		return cli_failed(program.name, name, &err);
	if (when && localtime_r(&when, &tm))
		strftime(date, sizeof(date), "%Y-%m-%d %H:%M", &tm);
	printf("%c %12" PRIu64 " %-16s %s%s%s\n",
	       link               ? 'l'
	       : place_is_file(p) ? '-'
				  : 'd',
	       size, date, name, link ? " -> " : "", link ? p->target : "");
	return CLI_OK;
}

static int print_entries(struct ls *ls, const struct place *dir,
			 const struct entries *list)
{
	int status = CLI_OK;

	for (size_t i = 0; i < list->len; i++) {
		const struct entry *e = &list->data[i];
		struct err err = { 0 };
		struct place p;

		if (!ls->longs) {
			puts(e->name);
			continue;
		}
		if (tree_step(ls->cli.tree, dir, e->name, strlen(e->name),
			      &ls->cli.viewer, &p, &err)) {
			status = cli_failed(program.name, e->name, &err);
			continue;
		}
		if (print_long(ls, &p, e->name))
			status = CLI_FAILED;
		place_fini(&p);
	}
	return status;
}

static int list_place(struct ls *ls, const struct place *p)
{
	CLEANUP(entries_fini) struct entries list = { 0 };
	struct err err = { 0 };

	if (place_is_file(p)) {
		if (ls->longs)
			return print_long(ls, p, ls->path);
		puts(ls->path);
		return CLI_OK;
	}
	if (tree_list(ls->cli.tree, p, &ls->cli.viewer, keep, &list, &err))
		return cli_failed(program.name, ls->path, &err);
	return print_entries(ls, p, &list);
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
	if (heading && !place_is_file(&p))
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
	if (!status && !nr)
		status = list_path(&ls, ls.cli.where.at ? ls.cli.where.at : "/", false);
	for (int i = 1; i <= nr && ls.cli.tree; i++)
		if (list_path(&ls, argv[i], nr > 1))
			status = CLI_FAILED;
	cli_fini(&ls.cli);
	return cli_flush(program.name) ? CLI_FAILED : status;
}
