/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/daemon/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/output.h"
#include "collector/daemon/commands.h"
#include "collector/daemon/log.h"
#include "collector/daemon/options.h"
#include "collector/daemon/sampling.h"
#include "collector/daemon/status.h"
#include "collector/daemon/watch.h"
#include "collector/engine/engine.h"

enum {
	IDLE_MS = 1000,
	CHECKPOINT_MS = 100, /* between its parts */
	WAITED_FOR_MS = 20,
	EXIT_FAILED = 1,
	EXIT_USAGE = OPT_EXIT_USAGE,
};

static const char about[] =
	"Samples every process on every CPU for as long as it runs, into the session\n"
	"\"current\" of /var/lib/oprofile, and takes commands (\"opcollect status\", "
	"...).\n"
	"Options stand in /etc/opcollect.conf as well (\"event = TIMER:10000000\"); "
	"\"opcollect\n"
	"config\" prints them all, and where each came from.\n"
	"\n"
	"With --rotate, \"current\" becomes a session named by its start, "
	"2026-11-21T09-00-00Z,\n"
	"and another one begins; with --keep, the oldest of those are removed.";

static const struct opt_program daemon_program = {
	.topics = true,
	.name = "opcollect daemon",
	.synopsis = "[OPTIONS]",
	.about = about,
	.opts = coll_daemon_opts,
	.aliases = coll_option_aliases,
};

static const struct opt_program config_program = {
	.name = "opcollect config",
	.synopsis = "[OPTIONS OF THE DAEMON]",
	.about = "Prints the options that \"opcollect daemon\" would have with these, as "
		 "a\n"
		 "configuration file that says where each value came from.",
	.opts = coll_daemon_opts,
	.aliases = coll_option_aliases,
};

/* ---- options: what the command line says comes before what the file says */

static int take_option(void *ctx, const struct opt *o, const char *arg, struct err *err)
{
	return coll_config_give(ctx, o->name, arg, COLL_BY_COMMAND_LINE, err);
}

/* OPT_RUN, or an exit status is in @status. */
static enum opt_result read_config(const struct opt_program *what, int argc, char **argv,
				   struct coll_config *c)
{
	struct opt_program program = *what;
	struct err err = { 0 };
	enum opt_result result;
	int first = argc;

	if (coll_config_init(c, &err)) {
		log_err("%s", err.msg);
		return OPT_WRONG;
	}
	program.take = take_option;
	result = opt_parse(&program, argc, argv, c, &first);
	if (result != OPT_RUN)
		return result;
	if (first < argc) {
		log_err("\"%s\": no operands are expected here", argv[first]);
		return OPT_WRONG;
	}
	if (coll_config_read(c, coll_config_value(c, "config"), &err)) {
		log_err("%s", err.msg);
		return OPT_WRONG;
	}
	return OPT_RUN;
}

int coll_daemon_config(int argc, char **argv)
{
	CLEANUP(coll_config_fini) struct coll_config config = { 0 };
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	struct coll_daemon_options opt;
	struct err err = { 0 };
	enum opt_result result;
	int rc;

	log_init("opcollect config");
	result = read_config(&config_program, argc, argv, &config);
	if (result != OPT_RUN)
		return opt_exit(result);
	rc = coll_config_apply(&config, &opt, &err);
	coll_daemon_options_fini(&opt);
	if (rc) {
		log_err("%s", err.msg);
		return EXIT_USAGE;
	}
	coll_config_print(&config, &text);
	fputs(strbuf_str(&text), stdout);
	return output_end(config_program.name) || strbuf_error(&text) ? EXIT_FAILED : 0;
}

/* ---- running */

static void daemon_fini(struct daemon *d)
{
	coll_engine_fini(&d->engine);
	coll_control_close(&d->control, d->untold ? -EIO : 0, strbuf_str(&d->farewell));
	strbuf_fini(&d->farewell);
	coll_daemon_options_fini(&d->opt);
	coll_config_fini(&d->config);
	close_fd(&d->signal_fd);
}

static int catch_signals(struct daemon *d, struct err *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	signal(SIGPIPE, SIG_IGN);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return err_errno(err, -errno, "signals");
	d->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return d->signal_fd < 0 ? err_errno(err, -errno, "signalfd") : 0;
}

static void take_signals(struct daemon *d)
{
	struct signalfd_siginfo info;

	while (read(d->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGHUP)
			daemon_log_reopen();
		else
			d->quit = true;
	}
}

static int prepare(struct daemon *d, struct err *err)
{
	struct coll_engine *e = &d->engine;
	int rc = catch_signals(d, err);

	e->kept = true;
	/* who listens has the session; nobody is told to come before it is there */
	if (!rc)
		rc = coll_engine_plan(e, &d->opt.sampling, err);
	if (!rc)
		rc = coll_control_open(&d->control, d->opt.socket, d->opt.group, err);
	if (!rc)
		rc = coll_engine_open_session(e, false, err);
	if (rc)
		return rc;
	e->collect.self = (uint32_t)getpid();
	coll_seal_settings(e->opt, e->plan.sink, &e->settings);
	rc = coll_engine_describe(e, err);
	if (!rc)
		rc = coll_keeper_new(e->session.samples_fd, &d->opt, &d->keeper, err);
	/* but not the keeper's */
	priority_raise(&e->priority, d->opt.sampling.realtime);
	d->session_ns = clock_boot_ns();
	d->checkpoint_ns = clock_mono_ns();
	d->begun_s = d->changed_s = (uint64_t)time(NULL);
	if (!rc && !d->opt.stopped)
		rc = daemon_start(d, err);
	if (!rc && d->opt.stopped)
		coll_engine_tell(e, true);
	return rc;
}

/* Waits until there is something to do, and does what came from outside. */
static void wait_and_serve(struct daemon *d, int timeout_ms)
{
	enum { FD_SIGNALS, FD_SOURCE, FD_CONTROL };
	struct pollfd fds[FD_CONTROL + 1 + COLL_CONTROL_CLIENTS];
	size_t nr = coll_control_fds(&d->control, fds + FD_CONTROL);
	struct coll_source *source = d->engine.running ? d->engine.source : NULL;

	fds[FD_SIGNALS] = (struct pollfd){ .fd = d->signal_fd, .events = POLLIN };
	fds[FD_SOURCE] =
		(struct pollfd){ .fd = source ? source->ops->poll_fd(source) : -1,
				 .events = POLLIN };
	if (poll(fds, FD_CONTROL + nr, timeout_ms) <= 0)
		return;
	if (fds[FD_SIGNALS].revents)
		take_signals(d);
	coll_control_serve(&d->control, fds + FD_CONTROL, nr, daemon_do, d);
}

static int pause_ms(const struct daemon *d, int rc)
{
	int ms = d->engine.running ? coll_engine_pause_ms(&d->engine, rc) : IDLE_MS;
	int most = coll_control_waiting(&d->control) ? WAITED_FOR_MS
		   : d->checkpointing                ? CHECKPOINT_MS
						     : IDLE_MS;

	return ms < most ? ms : most;
}

static void run(struct daemon *d)
{
	int rc = 0;

	while (!d->quit) {
		wait_and_serve(d, pause_ms(d, rc));
		coll_control_answer(&d->control, daemon_saved, d);
		rc = d->engine.running ? coll_engine_round(&d->engine) : 0;
		if (rc < 0) {
			char why[128];

			snprintf(why, sizeof(why), "collecting was given up: %s",
				 strerror(-rc));
			daemon_stop(d, why);
			rc = 0;
		}
		daemon_watch(d);
	}
}

static int finish(struct daemon *d)
{
	daemon_notify("STOPPING=1");
	daemon_stop(d, "");
	coll_engine_settle(&d->engine);
	if (spec_stats_lost(&d->engine.collect.stats))
		coll_engine_tell(&d->engine, true);
	d->untold = d->engine.untold;
	strbuf_puts(&d->farewell, "the daemon has ended; ");
	daemon_tell_session(d, &d->farewell);
	if (d->untold)
		strbuf_puts(
			&d->farewell,
			", but not all of its figures could be written (see the log)");
	daemon_keep_held(d); /* the next daemon has them no more */
	coll_keeper_free(d->keeper);
	d->keeper = NULL;
	coll_control_answer(&d->control, daemon_saved, d);
	log_note("the daemon ends");
	return d->untold ? EXIT_FAILED : 0;
}

/* ---- the background */

/* Returns in the child, with the end of a pipe to tell when it is ready; the parent waits
 * for that and exits. */
static int go_into_background(struct err *err)
{
	int fds[2];
	pid_t pid;
	char ready;

	if (pipe2(fds, O_CLOEXEC))
		return err_errno(err, -errno, "--detach");
	pid = fork();
	if (pid < 0)
		return err_errno(err, -errno, "--detach");
	if (!pid) {
		close(fds[0]);
		setsid();
		return fds[1];
	}
	close(fds[1]);
	_exit(read(fds[0], &ready, 1) == 1 ? 0 : EXIT_FAILED);
}

static void tell_ready(struct daemon *d, int ready_fd)
{
	CLEANUP(close_fd) int null = -1;

	daemon_notify("READY=1");
	log_note("process %d takes commands at %s, samples are in %s/samples", getpid(),
		 d->opt.socket, strbuf_str(&d->engine.session.dir));
	if (ready_fd < 0)
		return;
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	if (write(ready_fd, "R", 1) != 1)
		log_warn("who started the daemon did not wait for it");
}

static int serve(struct daemon *d)
{
	CLEANUP(close_fd) int ready_fd = -1;
	struct err err = { 0 };
	int rc = coll_config_apply(&d->config, &d->opt, &err), status;

	if (rc) {
		log_err("%s", err.msg);
		return EXIT_USAGE;
	}
	if (d->opt.detach)
		rc = ready_fd = go_into_background(&err);
	if (rc >= 0)
		rc = prepare(d, &err);
	/* failures so far are told to whoever started it */
	if (!rc)
		rc = daemon_log_open(&d->opt, &err);
	if (rc) {
		log_err("%s", err.msg);
		coll_keeper_free(d->keeper);
		return EXIT_FAILED;
	}
	tell_ready(d, ready_fd);
	run(d);
	status = finish(d);
	return status;
}

int coll_daemon(int argc, char **argv)
{
	CLEANUP(daemon_fini)
	struct daemon d = { .engine = COLL_ENGINE_NONE,
			    .control = { .fd = -1, .lock_fd = -1 },
			    .signal_fd = -1 };
	enum opt_result result;

	log_init("opcollect");
	result = read_config(&daemon_program, argc, argv, &d.config);
	if (result != OPT_RUN)
		return opt_exit(result);
	if (opt_verbose)
		log_set_level(LOG_DEBUG);
	return serve(&d);
}
