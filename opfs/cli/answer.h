/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_CLI_ANSWER_H
#define OPFS_CLI_ANSWER_H

#include "opfs/cli/cli.h"

/* --json: all that a command found out, as one document.  Its schema is
 * doc/COMMAND.schema.json; what goes to stderr goes there as without it. */

/* Row of an option table. */
#define ANSWER_OPT                                                                       \
	{                                                                                \
		.name = "json", .doc = "for programs: the answer as JSON",               \
		.set = answer_set_json                                                   \
	}
int answer_set_json(void *ctx, const char *arg, struct err *err);

/* Where a command adds to its answer; NULL without --json. */
struct json *answer_json(struct cli *c);
/* The document begins, if one is wanted: which command it is of, and its session
 * directory.  A list of this name is left open in it. */
void answer_begin(struct cli *c, const char *program, const char *list);
/* Closes the list. */
void answer_list_end(struct cli *c);
/* Prints the document, if one was begun, and what else was printed: 0, or CLI_FAILED with
 * the reason told. */
int answer_end(struct cli *c, const char *program);

#endif
