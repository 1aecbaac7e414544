/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/box/box.h"
#include "base/cleanup.h"
#include "base/command.h"
#include "base/log.h"
#include "base/opt.h"
#include "base/strbuf.h"
#include "libsym/helper/helper.h"
#include "opfs/cli/cli.h"
#include "opfs/mount/mount.h"
#include "opfs/reports.h"

struct command {
	const char *name, *doc;
	int (*main)(const struct report_set *reports, int argc, char **argv);
};

static const struct command commands[] = {
	{ "mount", "show sessions as a file system", opfs_mount_main },
	{ "ls", "list a directory of it without a mount", opfs_ls_main },
	{ "cat", "print files of it without a mount", opfs_cat_main },
	{ "diff", "compare two slices of it", opfs_diff_main },
	{ "why", "say what a path means, or why it does not exist", opfs_why_main },
	{ "check", "find out whether everything in a session is whole", opfs_check_main },
	{ "keep", "keep names for when binaries are gone", opfs_keep_main },
	{ "fetch", "get debug files that are missing from servers", opfs_fetch_main },
};

/* perf's, and reports */
static const struct instead instead[] = {
	{ { "report" }, "reports are files: opfs cat current/report" },
	{ { "annotate" }, "reports are files: opfs ls current/annotate" },
	{ { "script" }, "reports are files: opfs cat current/stacks.folded" },
	{ { "archive" }, "it is a file: opfs cat current/archive.tar > archive.tar" },
	{ { "top" }, "reports are files: opfs cat last:10s/report" },
	{ { "record" }, "opcollect record takes samples" },
	{ { "stat" }, "opcollect count counts events" },
	{ { "list" }, "opcollect events lists events, opcollect list sessions" },
	{ { 0 }, NULL },
};

static const struct commands list = COMMANDS("opfs", commands, instead);

/* Options without a command.  Returns an exit status. */
static int general(int argc, char **argv)
{
	CLEANUP(strbuf_fini) struct strbuf about = { 0 };
	static const struct opt none[] = { { 0 } };
	struct opt_program program = { .name = "opfs",
				       .synopsis = "COMMAND [ARGUMENT]...",
				       .opts = none };
	enum opt_result result;
	int first;

	strbuf_puts(&about, "Shows OProfile sessions as directories and files.\n\n");
	command_describe(&list, &about);
	strbuf_puts(&about, "  In the words of mount(8):\n"
			    "  opfs SESSION_DIR MOUNTPOINT -o OPTIONS");
	program.about = strbuf_str(&about);
	result = opt_parse(&program, argc, argv, NULL, &first);
	if (result != OPT_RUN)
		return opt_exit(result);
	return command_unknown(&list, argv[first]);
}

/* Are these the words of mount(8)?  A command that is misspelt must not mount. */
static bool is_mount(int argc, char **argv)
{
	struct stat st;

	if (argc <= 2 || argv[1][0] == '-')
		return false;
	if (strchr(argv[1], '/') || (!stat(argv[1], &st) && S_ISDIR(st.st_mode)))
		return true;
	for (int i = 2; i < argc; i++)
		if (!strncmp(argv[i], "-o", 2) || !strncmp(argv[i], "--options", 9))
			return true;
	return false;
}

/* -V may precede the command as well. */
static void skip_verbose(int *argc, char ***argv)
{
	while (*argc > 2 &&
	       (!strcmp((*argv)[1], "-V") || !strcmp((*argv)[1], "--verbose"))) {
		opt_verbose = true;
		(*argv)[1] = (*argv)[0];
		(*argc)--;
		(*argv)++;
	}
}

static const struct box_kind *const boxes[] = { &sym_helper_box };

int main(int argc, char **argv)
{
	const struct command *command;

	if (box_wanted(argc, argv))
		return box_main(boxes, sizeof(boxes) / sizeof(boxes[0]), argc, argv);
	log_init("opfs");
	signal(SIGPIPE, SIG_IGN); /* a write says EPIPE instead */
	skip_verbose(&argc, &argv);
	argc = 1 + command_help(argc - 1, argv + 1);
	command = argc > 1 ? command_find(&list, argv[1]) : NULL;
	if (command)
		return command->main(&opfs_reports, argc - 1, argv + 1);
	if (is_mount(argc, argv))
		return opfs_mount_main(&opfs_reports, argc, argv);
	return general(argc, argv);
}
