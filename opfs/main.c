/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/box/box.h"
#include "base/cleanup.h"
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
};

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static void describe(struct strbuf *out)
{
	strbuf_puts(out,
		    "Shows OProfile sessions as directories and files.\n\nCommands:\n");
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		strbuf_printf(out, "  %-30s  %s\n", commands[i].name, commands[i].doc);
	strbuf_puts(out,
		    "\n\"opfs COMMAND --help\" tells more.  In the words of mount(8):\n"
		    "  opfs SESSION_DIR MOUNTPOINT -o OPTIONS");
}

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

	describe(&about);
	program.about = strbuf_str(&about);
	result = opt_parse(&program, argc, argv, NULL, &first);
	if (result != OPT_RUN)
		return opt_exit(result);
	if (first < argc)
		fprintf(stderr, "opfs: %s: no such command\n", argv[first]);
	else
		fprintf(stderr, "opfs: which command?\n");
	fprintf(stderr, "try 'opfs --help'\n");
	return CLI_USAGE;
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
	command = argc > 1 ? find_command(argv[1]) : NULL;
	if (command)
		return command->main(&opfs_reports, argc - 1, argv + 1);
	if (argc > 2 && argv[1][0] != '-')
		return opfs_mount_main(&opfs_reports, argc, argv);
	return general(argc, argv);
}
