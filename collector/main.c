/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/opt.h"
#include "collector/events_cmd.h"
#include "collector/record.h"

static const struct command {
	const char *name, *doc;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "record", "profile a command, processes or the machine into a session",
	  coll_record },
	{ "events", "list the events that can be sampled", coll_events },
};

enum { NR_COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static const struct opt no_opts[] = { { 0 } };

static const struct opt_program program = {
	.name = "opcollect",
	.synopsis = "COMMAND [OPTIONS] [ARGS]",
	.about = "Collects samples into OProfile sample files. Commands:\n"
		 "  record    profile a command, processes or the machine into a session\n"
		 "  events    list the events that can be sampled\n"
		 "\"opcollect COMMAND --help\" tells the options of each.",
	.opts = no_opts,
};

static int wrong(const char *what, const char *word)
{
	fprintf(stderr, "opcollect: %s%s; commands are:", what, word);
	for (int i = 0; i < NR_COMMANDS; i++)
		fprintf(stderr, " %s", commands[i].name);
	fputs("\ntry 'opcollect --help'\n", stderr);
	return 2;
}

int main(int argc, char **argv)
{
	int first = argc;

	log_init("opcollect");
	switch (opt_parse(&program, argc, argv, NULL, &first)) {
	case OPT_DONE:
		return 0;
	case OPT_WRONG:
		return 2;
	default:
		break;
	}
	if (first >= argc)
		return wrong("no command given", "");
	for (int i = 0; i < NR_COMMANDS; i++)
		if (!strcmp(argv[first], commands[i].name))
			return commands[i].run(argc - first, argv + first);
	return wrong("no such command: ", argv[first]);
}
