/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "base/box/box.h"
#include "base/cleanup.h"
#include "base/command.h"
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

/* perf's */
static const struct instead instead[] = {
	{ { "stat" }, "opcollect count counts events" },
	{ { "report" }, "opfs cat current/report shows what was recorded" },
	{ { "top" },
	  "opcollect daemon records all the time, opfs cat last:10s/report shows" },
	{ { 0 }, NULL },
};

static const struct commands list = COMMANDS("opcollect", commands, instead);

static const struct box_kind *const boxes[] = { &coll_answer_box, &coll_table_box };

int main(int argc, char **argv)
{
	CLEANUP(strbuf_fini) struct strbuf about = { 0 };
	static const struct opt none[] = { { 0 } };
	struct opt_program program = { .topics = true,
				       .name = "opcollect",
				       .synopsis = "COMMAND [OPTIONS] [ARGS]",
				       .opts = none };
	const struct command *command;
	enum opt_result result;
	int first = argc;

	if (box_wanted(argc, argv))
		return box_main(boxes, sizeof(boxes) / sizeof(boxes[0]), argc, argv);
	log_init("opcollect");
	strbuf_puts(&about, "Collects samples into OProfile sample files.\n\n");
	command_describe(&list, &about);
	program.about = strbuf_str(&about);
	result = opt_parse(&program, argc, argv, NULL, &first);
	argc = first + command_help(argc - first, argv + first);
	if (result == OPT_RUN && first < argc && !strcmp(argv[first], "--help"))
		result = opt_parse(&program, 2, (char *[]){ argv[0], argv[first], NULL },
				   NULL, &first);
	if (result != OPT_RUN)
		return opt_exit(result);
	command = first < argc ? command_find(&list, argv[first]) : NULL;
	return command ? command->run(argc - first, argv + first)
		       : command_unknown(&list, first < argc ? argv[first] : NULL);
}
