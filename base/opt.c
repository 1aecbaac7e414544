/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/opt.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/number.h"
#include "base/output.h"
#include "base/strbuf.h"

#ifndef OPFS_VERSION
#define OPFS_VERSION "unknown"
#endif

enum { MAX_OPTS = 64, FIRST_CODE = 256, MAX_INDENT = 34 };

bool opt_verbose;

/* What every program understands.  A program's own letter comes first. */
enum common { COMMON_HELP, COMMON_USAGE, COMMON_VERSION, COMMON_VERBOSE, NR_COMMON };

static const struct opt common[] = {
	[COMMON_HELP] = { .letter = 'h', .name = "help", .doc = "show this help" },
	[COMMON_USAGE] = { .name = "usage", .doc = "show the usage in one line" },
	[COMMON_VERSION] = { .letter = 'v', .name = "version", .doc = "show version" },
	/* the argument: only where messages have topics */
	[COMMON_VERBOSE] = { 'V', "verbose", .arg = "[LIST]", .doc = "say more" },
	[NR_COMMON] = { 0 },
};

/* The two tables as one, and as getopt_long() wants them; a code is FIRST_CODE +
 * index. */
struct grammar {
	const struct opt *opts[MAX_OPTS];
	int n, nr_longs;
	int help; /* the index of --help */
	bool topics;
	const struct instead *instead;
	struct option longs[2 * MAX_OPTS + 1];
	char shorts[2 * MAX_OPTS + 3];
};

static int find_letter(const struct grammar *g, int letter)
{
	for (int i = 0; i < g->n; i++)
		if (letter && g->opts[i]->letter == letter)
			return i;
	return -1;
}

static int has_arg(const struct grammar *g, const struct opt *o)
{
	if (!o->arg || (o == &common[COMMON_VERBOSE] && !g->topics))
		return no_argument;
	return *o->arg == '[' ? optional_argument : required_argument;
}

/* Another long name of the option of index @i. */
static void add_long(struct grammar *g, const char *name, int i)
{
	g->longs[g->nr_longs++] = (struct option){
		.name = name,
		.has_arg = has_arg(g, g->opts[i]),
		.val = FIRST_CODE + i,
	};
}

const char *opt_name(const struct opt_alias *aliases, const char *name)
{
	for (const struct opt_alias *a = aliases; a->alias; a++)
		if (!strcmp(a->alias, name))
			return a->name;
	return name;
}

static void add_aliases(struct grammar *g, const struct opt_alias *a)
{
	for (; a && a->alias && g->nr_longs < 2 * MAX_OPTS; a++)
		for (int i = 0; i < g->n; i++)
			if (!strcmp(g->opts[i]->name, a->name))
				add_long(g, a->alias, i);
}

static void add_table(struct grammar *g, const struct opt *table, char **shorts)
{
	for (const struct opt *o = table; o && o->name && g->n < MAX_OPTS; o++) {
		bool taken = find_letter(g, o->letter) >= 0;

		if (o == &common[COMMON_HELP])
			g->help = g->n;
		g->opts[g->n] = o;
		add_long(g, o->name, g->n++);
		if (!o->letter || taken)
			continue;
		*(*shorts)++ = o->letter;
		if (has_arg(g, o) == required_argument)
			*(*shorts)++ = ':';
	}
}

static void grammar_init(struct grammar *g, const struct opt_program *prog)
{
	char *shorts = g->shorts;

	*g = (struct grammar){ .topics = prog->topics, .instead = prog->instead };
	*shorts++ = '+'; /* stop at the first operand */
	*shorts++ = ':'; /* tell a missing argument from an unknown letter */
	add_table(g, prog->opts, &shorts);
	add_table(g, common, &shorts);
	add_aliases(g, prog->aliases);
}

static void print_usage(const struct opt_program *prog, FILE *to)
{
	fprintf(to, "Usage: %s%s%s\n", prog->name, *prog->synopsis ? " " : "",
		prog->synopsis);
}

static void print_opt(const struct grammar *g, int i, FILE *to)
{
	const struct opt *o = g->opts[i];
	char left[128];
	char letter[] = { '-', o->letter, ',', ' ', '\0' };
	bool has_letter = o->letter && find_letter(g, o->letter) == i;

	const struct {
		const char *before;
		size_t skip;
	} marks[] = {
		[no_argument] = { "", 0 },
		[required_argument] = { "=", 0 },
		[optional_argument] = { "[=", strlen("[") },
	};
	int kind = has_arg(g, o);

	snprintf(left, sizeof(left), "  %s--%s%s%s", has_letter ? letter : "    ",
		 o->name, marks[kind].before,
		 kind == no_argument ? "" : o->arg + marks[kind].skip);
	if (strlen(left) > MAX_INDENT - 2)
		fprintf(to, "%s\n%*s%s\n", left, MAX_INDENT, "", o->doc);
	else
		fprintf(to, "%-*s%s\n", MAX_INDENT, left, o->doc);
}

static void print_help(const struct opt_program *prog, FILE *to)
{
	struct grammar g;

	grammar_init(&g, prog);
	print_usage(prog, to);
	if (prog->about)
		fprintf(to, "\n%s\n", prog->about);
	fputs("\nOptions:\n", to);
	for (int i = 0; i < g.n; i++)
		print_opt(&g, i, to);
}

static enum opt_result wrong(const struct opt_program *prog, const struct err *err)
{
	fprintf(stderr, "%s: %s\ntry '%s --help'\n", prog->name, err->msg, prog->name);
	return OPT_WRONG;
}

/* All long options that @word, without its dashes, may abbreviate. */
static int matches(const struct grammar *g, const char *word, size_t len,
		   struct strbuf *names)
{
	int n = 0;

	for (int i = 0; i < g->n; i++) {
		if (strncmp(g->opts[i]->name, word, len) != 0)
			continue;
		strbuf_printf(names, "%s--%s", n++ ? " or " : "", g->opts[i]->name);
	}
	return n;
}

static int refuse_glued(const struct opt *o, const char *text, struct err *err)
{
	return err_set(err, -EINVAL, "-%c: takes no argument; --%s=%s does", o->letter,
		       o->name, text);
}

/* "-gdwarf", which would be the letters g, d and so on. */
static int check_glued(const struct opt_program *prog, const struct grammar *g,
		       const struct opt *o, const char *word, struct err *err)
{
	const char *at = word[1] == '-' ? NULL : strchr(word, o->letter);

	if (!prog->meant || has_arg(g, o) != optional_argument || !at ||
	    !prog->meant(o, at + 1))
		return 0;
	return refuse_glued(o, at + 1, err);
}

/* "-g5", where only --name=5 takes one: the option of the letter before, or NULL. */
static const struct opt *glued(const struct grammar *g, const char *word)
{
	size_t at = strcspn(word, "0123456789");
	int i = at > 1 && word[at] ? find_letter(g, word[at - 1]) : -1;

	return i >= 0 && has_arg(g, g->opts[i]) == optional_argument ? g->opts[i] : NULL;
}

/* The first @len bytes of @word are "--name". */
static void no_option(const struct grammar *g, const char *word, size_t len,
		      struct err *err)
{
	CLEANUP(free_ptr) char *typed = strndup(word, len);
	CLEANUP(strbuf_fini) struct strbuf meant = { 0 };
	struct nearest near = { .typed = typed ? typed + strspn(typed, "-") : "" };
	const char *instead = typed ? instead_of(g->instead, typed) : NULL;

	if (instead)
		strbuf_printf(&meant, "; %s", instead);
	for (int i = 0; !instead && len > 2 && i < g->nr_longs; i++)
		nearest_offer(&near, g->longs[i].name);
	nearest_tell(&near, "--", &meant);
	err_set(err, -EINVAL, "%.*s: no such option%s%s", (int)len, word,
		near.name || instead || g->help ? ""
						: "; those of a command come behind it",
		strbuf_str(&meant));
}

/* Says what is wrong with the word that getopt_long() answered with '?' or ':'. */
static void explain(const struct grammar *g, int answer, const char *word,
		    struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf names = { 0 };
	int code = optopt;
	int at = code >= FIRST_CODE ? code - FIRST_CODE : find_letter(g, code);
	size_t len;

	if (code > 0 && code < FIRST_CODE) {
		const struct opt *before = glued(g, word);

		if (before && code >= '0' && code <= '9')
			refuse_glued(before, word + strcspn(word, "0123456789"), err);
		else if (answer == ':' && at >= 0)
			err_set(err, -EINVAL, "-%c: needs %s", code, g->opts[at]->arg);
		else
			no_option(g, (char[]){ '-', (char)code, '\0' }, 2, err);
		return;
	}
	if (at >= 0 && answer == ':') {
		err_set(err, -EINVAL, "--%s: needs %s", g->opts[at]->name,
			g->opts[at]->arg);
		return;
	}
	if (at >= 0) {
		err_set(err, -EINVAL, "--%s: takes no argument", g->opts[at]->name);
		return;
	}
	len = strcspn(word, "=");
	if (len > 2 && matches(g, word + 2, len - 2, &names) > 1)
		err_set(err, -EINVAL, "%.*s: is it %s?", (int)len, word,
			strbuf_str(&names));
	else
		no_option(g, word, len, err);
}

/* OPT_RUN: parsing goes on. */
static enum opt_result apply_common(const struct opt_program *prog, enum common which,
				    const char *arg)
{
	struct err err = { 0 };

	switch (which) {
	case COMMON_VERBOSE:
		opt_verbose = true;
		if (arg && log_want(arg, &err)) {
			err_add(&err, err.code, "--verbose");
			return wrong(prog, &err);
		}
		return OPT_RUN;
	case COMMON_USAGE:
		print_usage(prog, stdout);
		break;
	case COMMON_VERSION:
		printf("%s: opfs %s\n", prog->name, OPFS_VERSION);
		break;
	default:
		print_help(prog, stdout);
	}
	return output_end(prog->name) ? OPT_FAILED : OPT_DONE;
}

static enum opt_result apply(const struct opt_program *prog, const struct opt *o,
			     void *ctx)
{
	const char *arg = o->arg ? optarg : NULL;
	struct err err = { 0 };
	int rc;

	if (o >= common && o < common + NR_COMMON)
		return apply_common(prog, (enum common)(o - common), arg);
	rc = prog->take ? prog->take(ctx, o, arg, &err) : o->set(ctx, arg, &err);
	return rc ? wrong(prog, &err) : OPT_RUN;
}

/* The index of what getopt_long() found, or -1 if it found fault. */
static int found(const struct grammar *g, int code)
{
	if (code >= FIRST_CODE)
		return code - FIRST_CODE;
	if (code == '?' && optopt == '?') /* -?, which is no letter of getopt's */
		return g->help;
	return code == '?' ? -1 : find_letter(g, code);
}

enum opt_result opt_parse(const struct opt_program *prog, int argc, char **argv,
			  void *ctx, int *first)
{
	enum opt_result result = OPT_RUN;
	struct err err = { 0 };
	struct grammar g;

	*first = argc;
	grammar_init(&g, prog);
	opterr = 0;
	optind = 0; /* glibc: forget an earlier parse */
	while (result == OPT_RUN) {
		int word = optind > 0 ? optind : 1;
		int code, at;

		optopt = 0;
		code = getopt_long(argc, argv, g.shorts, g.longs, NULL);
		if (code == -1)
			break;
		at = found(&g, code);
		if (at < 0) {
			explain(&g, code, argv[word], &err);
			return wrong(prog, &err);
		}
		if (check_glued(prog, &g, g.opts[at], argv[word], &err))
			return wrong(prog, &err);
		result = apply(prog, g.opts[at], ctx);
	}
	*first = optind;
	return result;
}

enum opt_result opt_parse_all(const struct opt_program *prog, int argc, char **argv,
			      void *ctx, int *nr_operands)
{
	int at = 0, nr = 0;

	while (at < argc) {
		int first;
		enum opt_result result =
			opt_parse(prog, argc - at, argv + at, ctx, &first);
		bool ended;

		if (result != OPT_RUN)
			return result;
		ended = first > 1 && !strcmp(argv[at + first - 1], "--");
		at += first;
		do
			if (at < argc)
				argv[1 + nr++] = argv[at];
		while (ended && ++at < argc);
	}
	*nr_operands = nr;
	return OPT_RUN;
}

int opt_number(const char *text, const char *what, unsigned long long min,
	       unsigned long long max, unsigned long long *out, struct err *err)
{
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	uint64_t value;

	if (!number_parse(hex ? text + 2 : text, hex ? 16 : 10, max, &value) ||
	    value < min)
		return err_set(err, -EINVAL,
			       "%s: \"%s\" is not a number from %llu to %llu", what, text,
			       min, max);
	*out = value;
	return 0;
}
