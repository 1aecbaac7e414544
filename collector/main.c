/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/opt.h"
#include "collector/count/count.h"
#include "collector/daemon/client.h"
#include "collector/daemon/daemon.h"
#include "collector/daemon/sessions.h"
#include "collector/events/command.h"
#include "collector/record/record.h"
#include "collector/who/answer.h"

static const struct command {
	const char *name, *doc;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "record", "profile a command, processes or the machine into a session",
	  coll_record },
	{ "count", "count events of a command, processes or the machine, without samples",
	  coll_count },
	{ "replay", "file the samples of a saved stream of the driver", coll_replay },
	{ "daemon", "profile the machine for as long as it runs", coll_daemon },
	{ "config", "print the daemon's options and where they come from",
	  coll_daemon_config },
	{ "start", "let the daemon take samples", coll_client },
	{ "stop", "let it take none", coll_client },
	{ "dump", "wait until all samples so far can be read", coll_client },
	{ "reset", "empty session \"current\"", coll_client },
	{ "status", "print what the daemon does", coll_client },
	{ "save", "close \"current\" into a session that is kept", coll_client },
	{ "list", "list the sessions of a session directory", coll_sessions_list },
	{ "rename", "give a session another name", coll_sessions_rename },
	{ "remove", "remove sessions", coll_sessions_remove },
	{ "deinit", "give back counters and buffers", coll_client },
	{ "shutdown", "end the daemon", coll_client },
	{ "set", "change how the daemon samples", coll_client_set },
	{ "events", "list the events that can be sampled", coll_events },
};

enum { NR_COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static const struct opt no_opts[] = { { 0 } };

static const struct opt_program program = {
	.topics = true,
	.name = "opcollect",
	.synopsis = "COMMAND [OPTIONS] [ARGS]",
	.about =
		"Collects samples into OProfile sample files. Commands:\n"
		"  record    profile a command, processes or the machine into a session\n"
		"  count     count events of a command, processes or the machine, "
		"without samples\n"
		"  replay    file the samples of a saved stream of the driver\n"
		"  daemon    profile the machine for as long as it runs\n"
		"  config    print the daemon's options and where they come from\n"
		"  start     let the daemon take samples\n"
		"  stop      let it take none\n"
		"  dump      wait until all samples so far can be read\n"
		"  reset     empty session \"current\"\n"
		"  status    print what the daemon does\n"
		"  save      close \"current\" into a session that is kept\n"
		"  list      list the sessions of a session directory\n"
		"  rename    give a session another name\n"
		"  remove    remove sessions\n"
		"  deinit    give back counters and buffers\n"
		"  shutdown  end the daemon\n"
		"  set       change how the daemon samples\n"
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
	return OPT_EXIT_USAGE;
}

static const struct box_kind *const boxes[] = { &coll_answer_box, &coll_table_box };

int main(int argc, char **argv)
{
	enum opt_result result;
	int first = argc;

	if (box_wanted(argc, argv))
		return box_main(boxes, sizeof(boxes) / sizeof(boxes[0]), argc, argv);
	log_init("opcollect");
	result = opt_parse(&program, argc, argv, NULL, &first);
	if (result != OPT_RUN)
		return opt_exit(result);
	if (first >= argc)
		return wrong("no command given", "");
	for (int i = 0; i < NR_COMMANDS; i++)
		if (!strcmp(argv[first], commands[i].name))
			return commands[i].run(argc - first, argv + first);
	return wrong("no such command: ", argv[first]);
}
