/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/daemon/commands.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/log.h"
#include "base/names.h"
#include "collector/daemon/log.h"
#include "collector/daemon/named.h"
#include "collector/daemon/seal.h"
#include "collector/daemon/status.h"
#include "collector/engine/filing.h"
#include "collector/engine/processes.h"
#include "libspec/session/session.h"

enum { SAVE_WAIT_S = 60 };

/* ---- commands */

static int do_start(struct daemon *d, const struct coll_packet *p, struct strbuf *answer,
		    struct err *err)
{
	bool was = d->engine.running;
	int rc = daemon_start(d, err);

	(void)p;
	if (rc)
		return rc;
	strbuf_puts(answer, was ? "samples are being taken already; "
				: "samples are being taken; ");
	daemon_tell_session(d, answer);
	return 0;
}

static int do_stop(struct daemon *d, const struct coll_packet *p, struct strbuf *answer,
		   struct err *err)
{
	bool was = d->engine.running;

	(void)p;
	(void)err;
	daemon_stop(d, "");
	strbuf_puts(answer, was ? "no more samples are taken; "
				: "no samples were being taken; ");
	daemon_tell_session(d, answer);
	return 0;
}

static int do_deinit(struct daemon *d, const struct coll_packet *p, struct strbuf *answer,
		     struct err *err)
{
	(void)p;
	(void)err;
	daemon_stop(d, "");
	coll_engine_close_source(&d->engine);
	d->deinit = true;
	strbuf_puts(answer,
		    "no samples are taken, and counters and buffers are given back; "
		    "\"opcollect start\" takes them again");
	return 0;
}

static int do_dump(struct daemon *d, const struct coll_packet *p, struct strbuf *answer,
		   struct err *err)
{
	int rc = daemon_drain(d);
	uint64_t waiting;

	(void)p;
	if (rc)
		return err_errno(err, rc, "taking samples");
	waiting = coll_collect_waiting(&d->engine.collect);
	coll_engine_tell(&d->engine, !d->engine.running);
	if (d->engine.untold)
		return err_set(err, -EIO, "figures could not be written (see the log)");
	daemon_tell_session(d, answer);
	strbuf_printf(answer, ", which can be read (generation %" PRIu64 ")",
		      d->engine.session.live.generation);
	if (waiting)
		strbuf_printf(answer,
			      ", but for %" PRIu64 " of files or processes that do not "
			      "answer",
			      waiting);
	return 0;
}

static int do_reset(struct daemon *d, const struct coll_packet *p, struct strbuf *answer,
		    struct err *err)
{
	int rc = daemon_drain(d);
	uint64_t nr = d->engine.collect.stats.value[SPEC_STAT_TAKEN];

	(void)p;
	if (rc)
		return err_errno(err, rc, "taking samples");
	rc = daemon_empty(d, err);
	if (!rc)
		strbuf_printf(answer,
			      "session \"current\" is empty: %" PRIu64
			      " samples were thrown away",
			      nr);
	return rc;
}

static int do_save(struct daemon *d, const struct coll_packet *p, struct strbuf *answer,
		   struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf old = { 0 };
	const char *name = p->words[1];
	int rc = coll_session_name_check(name, err);

	if (rc)
		return rc;
	if (coll_session_name_is_time(name))
		return err_set(err, -EINVAL,
			       "%s: such names are of rotated sessions, which --keep may "
			       "remove; choose another",
			       name);
	rc = daemon_drain(d);
	if (rc)
		return err_errno(err, rc, "taking samples");
	rc = daemon_rotate(d, name, &old, err);
	if (rc)
		return rc;
	if (strcmp(strbuf_str(&old), name) != 0)
		return err_set(err, -EIO, "session %s could only be called %s", name,
			       strbuf_str(&old));
	strbuf_puts(answer, name);
	return COLL_CONTROL_LATER;
}

int daemon_saved(void *ctx, const char *name, uint64_t waited_ns, struct strbuf *answer,
		 struct err *err)
{
	struct daemon *d = ctx;
	/* asked first: what is due when it rests stays so */
	bool busy = d->keeper && coll_keeper_busy(d->keeper);
	bool due = coll_seal_due(d->engine.session.samples_fd, name);

	(void)err;
	if (busy && due && waited_ns < SAVE_WAIT_S * CLOCK_NS_PER_S)
		return COLL_CONTROL_LATER;
	strbuf_printf(
		answer, "session \"%s\" is saved%s; \"current\" is a new one", name,
		due ? " (without a MANIFEST yet: the daemon writes that when it can, "
		      "see its log)"
		    : "");
	return 0;
}

static int do_remove(struct daemon *d, const struct coll_packet *p, struct strbuf *answer,
		     struct err *err)
{
	const struct coll_session *s = &d->engine.session;
	CLEANUP(names_fini) struct names all = { 0 };
	const uid_t us = geteuid();
	const char *name;
	int rc;

	if (!strcmp(p->words[1], "current"))
		return err_set(
			err, -EINVAL,
			"\"current\" is being written; \"opcollect reset\" empties it");
	rc = spec_session_names(s->samples_fd, &us, &all, err);
	if (!rc)
		rc = coll_named_find(s->samples_fd, strbuf_str(&s->dir), &all,
				     p->words[1], &name, err);
	if (!rc)
		rc = coll_keeper_take(s->samples_fd, name, NULL, err);
	if (rc)
		return rc;
	coll_keeper_wake(d->keeper);
	strbuf_puts(answer, "session \"");
	escape_text(answer, name);
	strbuf_puts(answer, "\" is removed");
	return 0;
}

static int do_status(struct daemon *d, const struct coll_packet *p, struct strbuf *answer,
		     struct err *err)
{
	bool json = p->nr > 1 && !strcmp(p->words[1], "json");

	if (p->nr > 1 && !json)
		return err_set(err, -EINVAL, "status: \"%s\" is no format", p->words[1]);
	daemon_status(d, json, answer);
	return 0;
}

static int do_shutdown(struct daemon *d, const struct coll_packet *p,
		       struct strbuf *answer, struct err *err)
{
	(void)p;
	(void)answer;
	(void)err;
	d->quit = true;
	return COLL_CONTROL_AT_END;
}

/* ---- set */

/* Options that say what is sampled: another session begins with them. */
static bool is_sampling(const char *name)
{
	static const char *const names[] = { "event",       "frequency", "separate",
					     "image",       "callgraph", "max-files",
					     "stack-limit", "source",    "ext-feature" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/* "--NAME=VALUE" */
static int take_word(struct coll_config *c, const char *word, bool clear, bool *sampling,
		     struct err *err)
{
	CLEANUP(free_ptr) char *copy = strdup(word);
	char *value = copy ? strchr(copy, '=') : NULL;
	const char *name;

	if (!copy)
		return err_errno(err, -ENOMEM, "set");
	if (strncmp(copy, "--", 2) != 0 || !value)
		return err_set(err, -EINVAL, "set: \"%s\" is not --OPTION=VALUE", word);
	*value++ = '\0';
	name = opt_name(coll_option_aliases, copy + 2);
	if (!coll_daemon_may_set(name))
		return err_set(err, -EINVAL,
			       "%s cannot be changed while the daemon runs, if there is "
			       "such an option",
			       copy);
	if (clear)
		coll_config_clear(c, name);
	*sampling |= is_sampling(name);
	return clear ? 0 : coll_config_give(c, name, value, COLL_BY_SET, err);
}

static int change_config(const struct daemon *d, const struct coll_packet *p,
			 struct coll_config *out, bool *sampling, struct err *err)
{
	int rc = coll_config_copy(&d->config, out, err);

	if (!rc && p->nr < 2)
		rc = err_set(err, -EINVAL, "set: what? Give --OPTION=VALUE");
	for (int clear = 1; clear >= 0; clear--)
		for (size_t i = 1; i < p->nr && !rc; i++)
			rc = take_word(out, p->words[i], clear, sampling, err);
	return rc;
}

/* With sampling stopped.  What was sampled otherwise is another session, and so is what
 * notes of another way say, without any sample. */
static int change_sampling(struct daemon *d, struct coll_daemon_options *to,
			   struct err *err)
{
	struct coll_engine *e = &d->engine;
	bool noted = e->notes.len;
	int rc = 0;

	coll_engine_forget_notes(e);
	if (e->collect.stats.value[SPEC_STAT_TAKEN])
		rc = daemon_rotate(d, NULL, NULL, err);
	else if (noted)
		rc = daemon_empty(d, err);
	if (!rc)
		rc = coll_engine_reconfigure(e, &to->sampling, err);
	if (rc)
		return rc;
	strbuf_reset(&e->settings);
	coll_seal_settings(e->opt, e->plan.sink, &e->settings);
	return coll_engine_describe(e, err);
}

/* The old way still works if the new one does not. */
static int resample(struct daemon *d, struct coll_daemon_options *to, struct err *err)
{
	bool was = d->engine.running;
	struct err why = { 0 };
	int rc;

	daemon_stop(d, "");
	rc = change_sampling(d, to, err);
	if (!rc && was)
		rc = daemon_start(d, err);
	if (!rc)
		return 0;
	if (change_sampling(d, &d->opt, &why) || (was && daemon_start(d, &why))) {
		snprintf(d->why_stopped, sizeof(d->why_stopped), "%s", why.msg);
		log_err("sampling could not go on as before: %s", why.msg);
	}
	return rc;
}

/* What can be seen to be wrong before anything is stopped. */
static int rehearse(struct coll_daemon_options *to, struct err *err)
{
	struct coll_plan plan = { 0 };
	int rc = coll_plan_init(&plan, &to->sampling, err);

	coll_plan_fini(&plan);
	return rc;
}

static void log_set(const struct coll_packet *p)
{
	CLEANUP(strbuf_fini) struct strbuf line = { 0 };

	for (size_t i = 1; i < p->nr; i++)
		strbuf_printf(&line, " %s", p->words[i]);
	log_note("set%s", strbuf_str(&line));
}

static int do_set(struct daemon *d, const struct coll_packet *p, struct strbuf *answer,
		  struct err *err)
{
	CLEANUP(coll_config_fini) struct coll_config config = { 0 };
	struct coll_daemon_options opt;
	bool sampling = false;
	int rc;

	coll_daemon_options_init(&opt);
	rc = change_config(d, p, &config, &sampling, err);
	if (!rc)
		rc = coll_config_apply(&config, &opt, err);
	if (!rc && sampling)
		rc = rehearse(&opt, err);
	if (!rc && sampling) {
		/* the events of @opt are completed once more */
		coll_daemon_options_fini(&opt);
		rc = coll_config_apply(&config, &opt, err);
		if (!rc)
			rc = resample(d, &opt, err);
	}
	if (rc) {
		coll_daemon_options_fini(&opt);
		return rc;
	}
	if (!sampling) {
		/* the engine's options stay where they are, and what they are */
		struct coll_options kept = d->opt.sampling;

		kept.symbols = opt.sampling.symbols;
		coll_options_fini(&opt.sampling);
		opt.sampling = kept;
		opt.sampling.session_dir = coll_config_value(&config, "session-dir");
		opt.sampling.vmlinux = coll_config_value(&config, "vmlinux");
	} else {
		coll_options_fini(&d->opt.sampling);
	}
	d->opt = opt;
	d->engine.opt = &d->opt.sampling;
	coll_config_fini(&d->config);
	d->config = TAKE(config);
	coll_keeper_set(d->keeper, &d->opt);
	log_set(p);
	strbuf_puts(answer, "now in force:\n");
	daemon_settings(d, answer);
	return 0;
}

static const struct command {
	const char *name;
	size_t min, max; /* arguments */
	int (*run)(struct daemon *d, const struct coll_packet *p, struct strbuf *answer,
		   struct err *err);
} commands[] = {
	{ "start", 0, 0, do_start },
	{ "stop", 0, 0, do_stop },
	{ "dump", 0, 0, do_dump },
	{ "reset", 0, 0, do_reset },
	{ "status", 0, 1, do_status },
	{ "save", 1, 1, do_save },
	{ "remove", 1, 1, do_remove },
	{ "deinit", 0, 0, do_deinit },
	{ "set", 1, COLL_CONTROL_WORDS, do_set },
	{ "shutdown", 0, 0, do_shutdown },
};

int daemon_do(void *ctx, const struct coll_packet *request, struct strbuf *answer,
	      struct err *err)
{
	struct daemon *d = ctx;
	size_t args = request->nr - 1;

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		const struct command *c = &commands[i];

		if (strcmp(c->name, request->words[0]) != 0)
			continue;
		if (args < c->min || args > c->max)
			return err_set(err, -EINVAL, "%s: wrong number of arguments",
				       c->name);
		log_debug(LOG_MISC, "command: %s", c->name);
		return c->run(d, request, answer, err);
	}
	return err_set(err, -EINVAL, "%s: this daemon knows no such command",
		       request->words[0]);
}
