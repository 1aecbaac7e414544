/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/command.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/opt.h"

static char help_word[] = "help", help_option[] = "--help";

/* The name and the line of help of row @i. */
static const char *const *row(const struct commands *c, size_t i)
{
	return (const void *)((const char *)c->rows + i * c->size);
}

const void *command_find(const struct commands *c, const char *word)
{
	for (size_t i = 0; i < c->nr; i++)
		if (!strcmp(row(c, i)[0], word))
			return row(c, i);
	return NULL;
}

void command_describe(const struct commands *c, struct strbuf *out)
{
	strbuf_puts(out, "Commands:\n");
	for (size_t i = 0; i < c->nr; i++)
		strbuf_printf(out, "  %-10s  %s\n", row(c, i)[0], row(c, i)[1]);
	strbuf_printf(out, "\n\"%s help COMMAND\" tells more of each.", c->program);
}

int command_unknown(const struct commands *c, const char *word)
{
	CLEANUP(strbuf_fini) struct strbuf meant = { 0 };
	const char *instead = word ? instead_of(c->instead, word) : NULL;
	struct nearest near = { .typed = word };

	if (!word) {
		fprintf(stderr, "%s: which command?\n", c->program);
	} else if (instead) {
		fprintf(stderr, "%s: %s: no such command; %s\n", c->program, word,
			instead);
	} else {
		for (size_t i = 0; i < c->nr; i++)
			nearest_offer(&near, row(c, i)[0]);
		nearest_offer(&near, help_word);
		nearest_tell(&near, "", &meant);
		fprintf(stderr, "%s: %s: no such command%s\n", c->program, word,
			strbuf_str(&meant));
	}
	fprintf(stderr, "try '%s --help'\n", c->program);
	return OPT_EXIT_USAGE;
}

int command_help(int argc, char **argv)
{
	if (argc < 1 || strcmp(argv[0], help_word) != 0)
		return argc;
	if (argc == 1 || argv[1][0] == '-' || !strcmp(argv[1], help_word)) {
		argv[0] = help_option;
		return 1;
	}
	argv[0] = argv[1];
	argv[1] = help_option;
	return 2;
}
