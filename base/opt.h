/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_OPT_H
#define BASE_OPT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"
#include "base/suggest.h"

/*
 * Options as tables.  Parsing stops at the first word that is no option, so that a
 * command's own options stay the command's.  Every program and subcommand understands
 * --help -h -?, --usage, --version -v and --verbose -V without naming them in its table.
 */
struct opt {
	char letter;      /* 0: none */
	const char *name; /* long name, without dashes; NULL ends a table */
	/* what the argument is called; NULL: takes none; "[ARG]": only --name=ARG takes
	 * one, and -letter and --name are without */
	const char *arg;
	const char *doc; /* one line for --help */
	/* @ctx is opt_parse()'s; @arg NULL if the option takes none.  0 or -errno. */
	int (*set)(void *ctx, const char *arg, struct err *err);
};

struct opt_alias {
	const char *alias, *name;
};

struct opt_program {
	const char *name;     /* "opcollect record" */
	const char *synopsis; /* what follows the name: "[-e EVENT]... -- CMD ARGS" */
	const char *about;    /* a line or several for --help */
	const struct opt *opts;
	/* NULL, or other long names, which --help does not list; a NULL ends them */
	const struct opt_alias *aliases;
	/* NULL, or options of other programs, as they are written: "-C", "--cpu" */
	const struct instead *instead;
	bool topics; /* --verbose=LIST takes words of base/log_topic_list.h */
	/* NULL, or whether @text, right behind the letter of @o, whose argument is an
	 * "[ARG]", is meant as that and not as further letters */
	bool (*meant)(const struct opt *o, const char *text);
	/* NULL, or what takes the program's own options instead of their set() */
	int (*take)(void *ctx, const struct opt *o, const char *arg, struct err *err);
};

enum opt_result {
	OPT_RUN,    /* go on: operands start at argv[*first] */
	OPT_DONE,   /* help or version was printed */
	OPT_FAILED, /* they could not be written, told to stderr */
	OPT_WRONG,  /* wrong usage, told to stderr */
};

/* The name that @name is another one of, or @name. */
const char *opt_name(const struct opt_alias *aliases, const char *name);

/* The exit status for wrong usage. */
enum { OPT_EXIT_FAILED = 1, OPT_EXIT_USAGE };

/* The exit status where the result is not OPT_RUN. */
static inline int opt_exit(enum opt_result result)
{
	return result == OPT_DONE     ? 0
	       : result == OPT_FAILED ? OPT_EXIT_FAILED
				      : OPT_EXIT_USAGE;
}

extern bool opt_verbose; /* -V was given */

/* argv[0] is the (sub)command.  Long options may be cut short where unambiguous.  *first
 * is set in any case; of use only with OPT_RUN. */
enum opt_result opt_parse(const struct opt_program *prog, int argc, char **argv,
			  void *ctx, int *first);

/**
 * opt_parse_all - the same where options may follow operands too ("--" ends them)
 * Operands are moved to argv[1 .. *nr_operands].
 */
enum opt_result opt_parse_all(const struct opt_program *prog, int argc, char **argv,
			      void *ctx, int *nr_operands);

/**
 * opt_number - a whole number in an option's argument
 * Decimal, or hexadecimal with 0x; suffixes none.  Returns 0, or -EINVAL with a message
 * that says "WHAT: "TEXT" is not a number from MIN to MAX".
 */
int opt_number(const char *text, const char *what, unsigned long long min,
	       unsigned long long max, unsigned long long *out, struct err *err);

#endif
