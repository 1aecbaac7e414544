/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_COMMAND_H
#define BASE_COMMAND_H

#include <stddef.h>

#include "base/strbuf.h"
#include "base/suggest.h"

/* The commands of a program: a table whose rows begin with a name and a line of help,
 * each a const char *. */
struct commands {
	const char *program;
	const void *rows;
	size_t nr, size;               /* of a row */
	const struct instead *instead; /* of commands of other programs */
};
#define COMMANDS(program, table, instead)                                                \
	{                                                                                \
		program, table, sizeof(table) / sizeof((table)[0]), sizeof((table)[0]),  \
			instead                                                          \
	}

/* The row of the name @word, or NULL. */
const void *command_find(const struct commands *c, const char *word);
/* Appends a line for each of them, and how to learn more. */
void command_describe(const struct commands *c, struct strbuf *out);
/* Tells that there is no command @word (NULL: that none is given), and which one may be
 * meant.  Returns the exit status. */
int command_unknown(const struct commands *c, const char *word);
/* Puts "--help" for "help", and "COMMAND --help" for "help COMMAND".  @argv[0] is the
 * first word behind the program.  Returns how many words are left. */
int command_help(int argc, char **argv);

#endif
