/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/daemon/client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/output.h"
#include "collector/daemon/config.h"
#include "collector/daemon/control.h"

enum { EXIT_FAILED = 1, EXIT_USAGE = OPT_EXIT_USAGE };

struct client {
	const char *socket, *config;
	bool json;
	VEC(char *) words; /* of "set"; heap */
};

static int set_socket(void *ctx, const char *arg, struct err *err)
{
	(void)err;
	((struct client *)ctx)->socket = arg;
	return 0;
}

static int set_config(void *ctx, const char *arg, struct err *err)
{
	(void)err;
	((struct client *)ctx)->config = arg;
	return 0;
}

static int set_json(void *ctx, const char *arg, struct err *err)
{
	(void)arg;
	(void)err;
	((struct client *)ctx)->json = true;
	return 0;
}

#define COMMON_ROWS                                                                      \
	{ 0, "socket", "PATH", "the daemon's socket (" COLL_DEFAULT_SOCKET ")",          \
	  set_socket },                                                                  \
	{                                                                                \
		0, "config", "FILE",                                                     \
			"where that is looked up (" COLL_DEFAULT_CONFIG ")", set_config  \
	}

static const struct opt plain_opts[] = { COMMON_ROWS, { 0 } };

static const struct opt status_opts[] = {
	{ 0, "json", NULL, "for programs: an object, numbers as numbers", set_json },
	COMMON_ROWS,
	{ 0 },
};

static void client_fini(struct client *c)
{
	vec_for(&c->words, w)
		free(*w);
	vec_fini(&c->words);
}

/* Where the daemon listens: as it would find out itself. */
static int find_socket(struct client *c, struct coll_config *config, struct err *err)
{
	int rc = coll_config_init(config, err);

	if (rc || c->socket)
		return rc;
	rc = coll_config_read(config, c->config, err);
	/* a file that only root may read does not keep others from the default */
	if (rc == -EACCES && !c->config)
		rc = 0;
	if (!rc)
		c->socket = coll_config_value(config, "socket");
	return rc;
}

static int ask(struct client *c, const char *const *words, size_t nr, const char *program)
{
	CLEANUP(coll_config_fini) struct coll_config config = { 0 };
	CLEANUP(strbuf_fini) struct strbuf answer = { 0 };
	struct err err = { 0 };
	int rc = find_socket(c, &config, &err);

	if (!rc)
		rc = coll_control_ask(c->socket, words, nr, &answer, &err);
	/* what was asked for is so */
	if (!strcmp(words[0], "shutdown") && (rc == -ECONNREFUSED || rc == -EPIPE)) {
		if (rc == -ECONNREFUSED)
			log_note("no daemon runs (nobody listens at %s)", c->socket);
		else
			puts("the daemon has ended");
		return 0;
	}
	if (rc) {
		log_err("%s", err.msg);
		return EXIT_FAILED;
	}
	if (answer.len)
		printf("%s\n", strbuf_str(&answer));
	return output_end(program) ? EXIT_FAILED : 0;
}

static const struct command {
	const char *name, *synopsis, *about;
	const struct opt *opts;
	int operands;
} commands[] = {
	{ "opcollect start", "[OPTIONS]",
	  "Takes samples, if the daemon does not already.", plain_opts, 0 },
	{ "opcollect stop", "[OPTIONS]",
	  "Takes no more samples. The daemon stays, and so does \"current\".", plain_opts,
	  0 },
	{ "opcollect dump", "[OPTIONS]",
	  "Returns when all samples taken so far can be read.", plain_opts, 0 },
	{ "opcollect reset", "[OPTIONS]", "Throws the samples of \"current\" away.",
	  plain_opts, 0 },
	{ "opcollect status", "[OPTIONS]", "Prints what the daemon does.", status_opts,
	  0 },
	{ "opcollect save", "[OPTIONS] NAME",
	  "Closes \"current\" into session NAME, which --keep never removes, and begins\n"
	  "another.",
	  plain_opts, 1 },
	{ "opcollect remove", "[OPTIONS] NAME", "Has the daemon remove session NAME.",
	  plain_opts, 1 },
	{ "opcollect deinit", "[OPTIONS]",
	  "Stops, and gives back all that is held of the machine: counters, buffers.",
	  plain_opts, 0 },
	{ "opcollect shutdown", "[OPTIONS]",
	  "Ends the daemon, having stored all samples. It is no failure if none runs.",
	  plain_opts, 0 },
};

static enum opt_result parse(const struct command *cmd, int argc, char **argv,
			     struct client *c, const char **operand)
{
	const struct opt_program program = { .name = cmd->name,
					     .synopsis = cmd->synopsis,
					     .about = cmd->about,
					     .opts = cmd->opts };
	int nr = 0;
	enum opt_result result = opt_parse_all(&program, argc, argv, c, &nr);

	if (nr)
		*operand = argv[1];
	if (result != OPT_RUN || nr == cmd->operands)
		return result;
	fprintf(stderr, "%s: %s\ntry '%s --help'\n", cmd->name,
		cmd->operands ? "one NAME is needed" : "no operands are expected",
		cmd->name);
	return OPT_WRONG;
}

int coll_client(int argc, char **argv)
{
	const char *name = argv[0];
	CLEANUP(client_fini) struct client c = { 0 };
	const struct command *cmd = commands;
	const char *words[2] = { name };
	enum opt_result result;

	while (strcmp(strchr(cmd->name, ' ') + 1, name) != 0)
		cmd++;
	log_init(cmd->name);
	result = parse(cmd, argc, argv, &c, &words[1]);
	if (result != OPT_RUN)
		return opt_exit(result);
	if (c.json)
		words[1] = "json";
	return ask(&c, words, words[1] ? 2 : 1, cmd->name);
}

/* ---- set */

/* The rows of the daemon that it takes while it runs, and where to find it. */
static size_t settable(struct opt *out, size_t max)
{
	size_t nr = 0;

	for (const struct opt *o = plain_opts; o->name; o++)
		out[nr++] = *o;
	for (const struct opt *o = coll_daemon_opts; o->name && nr < max - 1; o++)
		if (coll_daemon_may_set(o->name))
			out[nr++] = *o;
	out[nr] = (struct opt){ 0 };
	return nr;
}

/* @images: what --image names.  It is looked up here, with the rights of who asks. */
static int check_set(const struct opt *o, const char *arg, struct strbuf *images,
		     struct err *err)
{
	CLEANUP(coll_daemon_options_fini) struct coll_daemon_options scratch;
	int rc;

	coll_daemon_options_init(&scratch);
	rc = o->set(&scratch, arg, err);
	vec_for(&scratch.sampling.images, name) {
		if (!rc && strchr(*name, ','))
			rc = err_set(err, -EINVAL,
				     "--image: %s: a comma separates names, so none can "
				     "be in one",
				     *name);
		strbuf_printf(images, "%s%s", images->len ? "," : "", *name);
	}
	return rc ? rc : strbuf_error(images);
}

static int take_set(void *ctx, const struct opt *o, const char *arg, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf images = { 0 };
	struct client *c = ctx;
	char *word;
	int rc;

	if (!coll_daemon_may_set(o->name))
		return o->set(ctx, arg, err);
	rc = check_set(o, arg, &images, err);
	if (rc)
		return rc;
	if (asprintf(&word, "--%s=%s", o->name, images.len ? images.data : arg) < 0)
		return err_errno(err, -ENOMEM, "set");
	if (!c->words.len) {
		char *first = strdup("set");

		if (!first || vec_push(&c->words, first)) {
			free(first);
			free(word);
			return err_errno(err, -ENOMEM, "set");
		}
	}
	if (vec_push(&c->words, word)) {
		free(word);
		return err_errno(err, -ENOMEM, "set");
	}
	return 0;
}

int coll_client_set(int argc, char **argv)
{
	enum { MAX_ROWS = 32 };
	CLEANUP(client_fini) struct client c = { 0 };
	struct opt rows[MAX_ROWS];
	const struct opt_program program = {
		.name = "opcollect set",
		.synopsis = "--OPTION=VALUE...",
		.about =
			"Changes how the running daemon samples. What is sampled "
			"otherwise is\n"
			"another session: \"current\" is closed first. A value takes the "
			"place\n"
			"of the one that was given before; if it cannot be, all stays as "
			"it was.",
		.opts = rows,
		.aliases = coll_option_aliases,
		.take = take_set,
	};
	enum opt_result result;
	int first = argc;

	log_init(program.name);
	settable(rows, MAX_ROWS);
	result = opt_parse(&program, argc, argv, &c, &first);
	if (result != OPT_RUN)
		return opt_exit(result);
	if (first < argc || !c.words.len) {
		fprintf(stderr, "%s: %s\ntry '%s --help'\n", program.name,
			first < argc ? "no operands are expected" : "nothing to set",
			program.name);
		return EXIT_USAGE;
	}
	return ask(&c, (const char *const *)c.words.data, c.words.len, program.name);
}
