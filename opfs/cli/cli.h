/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_CLI_CLI_H
#define OPFS_CLI_CLI_H

#include "base/json.h"
#include "base/opt.h"
#include "opfs/cli/where.h"
#include "opfs/tree/tree.h"

/* What the subcommands that need no mount share.  Each returns an exit status; @reports
 * are the files that directories have. */
int opfs_ls_main(const struct report_set *reports, int argc, char **argv);
int opfs_cat_main(const struct report_set *reports, int argc, char **argv);
int opfs_why_main(const struct report_set *reports, int argc, char **argv);
int opfs_diff_main(const struct report_set *reports, int argc, char **argv);
int opfs_check_main(const struct report_set *reports, int argc, char **argv);
int opfs_keep_main(const struct report_set *reports, int argc, char **argv);
int opfs_fetch_main(const struct report_set *reports, int argc, char **argv);

enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = OPT_EXIT_USAGE };

enum show_when { SHOW_AUTO, SHOW_ALWAYS, SHOW_NEVER };

/* How files are shown: see show.h. */
struct show {
	enum show_when color; /* as asked for */
	bool no_pager;
	bool terminal, colors; /* what standard output is */
	unsigned columns;
	struct strbuf kept; /* what is to be shown */
};

/* What --json prints: see answer.h. */
struct answer {
	bool wanted;
	struct strbuf text;
	struct json json; /* writes it */
};

struct cli {
	const struct report_set *reports;
	const char *session_dir; /* as given; NULL: the default */
	struct where where;      /* see cli_find() */
	struct show show;
	struct answer answer;
	struct tree *tree;
	struct viewer viewer; /* this process */
	gid_t groups[128];
};

/* Row of an option table: --session-dir.  @ctx of opt_parse() is a struct cli, or
 * begins with one. */
#define CLI_OPT_SESSION_DIR                                                              \
	{                                                                                \
		.name = "session-dir", .arg = "DIR",                                     \
		.doc = "where sessions are ($OPFS_SESSION_DIR, ./oprofile_data, "        \
		       "/var/lib/oprofile)",                                             \
		.set = cli_set_session_dir                                               \
	}
int cli_set_session_dir(void *ctx, const char *arg, struct err *err);

/* Chooses the session directory, c->where.dir, by the options and operands, and makes of
 * operands what where_find() does.  0, or CLI_FAILED with the reason told. */
int cli_find(struct cli *c, const char *program, enum where_words kind, int nr,
	     char **words);
/* Opens the tree for whoever runs this, after cli_find() of its operands if it has some.
 * 0, or CLI_FAILED with the reason told. */
int cli_open(struct cli *c, const char *program);
/* Says why the session directory cannot be used.  CLI_FAILED. */
int cli_no_session_dir(const struct cli *c, const char *program, struct err *err);
void cli_fini(struct cli *c);
/* tree_walk() of a path as it was typed in this directory, see cli_relative().  *path:
 * what was walked, to free(); NULL if out of memory. */
int cli_walk(struct cli *c, const char *typed, char **path, struct place *out,
	     size_t *bad, struct err *err);
/* Prints "PROGRAM: PATH: why" and returns CLI_FAILED. */
int cli_failed(const char *program, const char *path, const struct err *err);
/* Writes to standard output: 0, or CLI_FAILED, told but for a pipe that nobody reads. */
int cli_write(const char *program, const char *data, size_t len, const char *path);
int cli_write_text(const char *program, const struct text *text, const char *path);

#endif
