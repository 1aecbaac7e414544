/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/record/record.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "collector/engine/engine.h"
#include "collector/engine/options.h"
#include "collector/engine/processes.h"
#include "collector/record/progress.h"
#include "collector/run/launch.h"
#include "collector/run/watch.h"
#include "collector/source/source.h"
#include "collector/source/stream_events.h"
#include "collector/store/symbols.h"
#include "collector/who/procfs.h"

enum { EXIT_FAILED = 1 };

/* One run, from its options to its last words. */
struct run {
	struct coll_options opt;
	struct coll_watch watch;
	struct coll_launch launch;
	struct coll_engine engine;
	struct coll_stream_events counters; /* of a saved stream */
	struct coll_progress progress;
	VEC(uint32_t) tids; /* the threads that are opened, if the kernel follows them */
	bool per_task;      /* the kernel follows the tree */
};

static void run_fini(struct run *r)
{
	coll_engine_fini(&r->engine);
	coll_stream_events_fini(&r->counters);
	coll_launch_fini(&r->launch);
	coll_watch_fini(&r->watch);
	coll_options_fini(&r->opt);
	vec_fini(&r->tids);
}

static int add_tid(void *ctx, uint32_t tid)
{
	struct run *r = ctx;

	return vec_push(&r->tids, tid);
}

/* Samples everybody and sorts out later; where that is not allowed, single threads. */
static int open_source(struct run *r, struct err *err)
{
	int rc = coll_engine_open_source(&r->engine, NULL, 0, false, err);
	bool on_exec = !r->opt.pids.len;

	if ((rc != -EACCES && rc != -EPERM) || r->opt.all || !r->opt.source->per_task)
		return rc;
	r->per_task = true;
	vec_for(&r->opt.pids, pid)
		coll_proc_each_thread(*pid, add_tid, r);
	if (on_exec)
		add_tid(r, (uint32_t)r->launch.pid);
	return coll_engine_open_source(&r->engine, r->tids.data, r->tids.len, on_exec,
				       err);
}

/* What `status`, and the person who started it, should know of the run. */
static void add_notes(struct run *r)
{
	char rate[64];

	snprintf(rate, sizeof(rate), "-F max: %" PRIu64 " samples a second and CPU",
		 r->opt.rate_hz);
	if (r->opt.rate_max)
		coll_engine_note(&r->engine, rate);
	if (r->opt.source->note)
		coll_engine_note(&r->engine, r->opt.source->note);
	if (r->per_task)
		coll_engine_note(
			&r->engine,
			"no right to sample whole CPUs: short-lived children are "
			"under-counted; to see them run as root or with "
			"CAP_PERFMON, or: sysctl kernel.perf_event_paranoid=0");
	coll_engine_note_limits(&r->engine);
}

/*
 * The driver tells who runs and who started it, but not of every process between: orphans
 * of the command come to the collector, so that each one's parents lead to it.
 */
static void watch_descendants(struct run *r)
{
	struct coll_collect *collect = &r->engine.collect;
	struct stat st;

	if (!r->opt.source->tells_who || !r->launch.pid)
		return;
	if (!prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
		collect->root = (uint32_t)getpid();
	if (!stat("/proc/self/exe", &st))
		collect->own_inode = st.st_ino;
}

/* Orphans that ended.  The command itself is waited for elsewhere. */
static void reap_orphans(const struct run *r)
{
	siginfo_t info;

	while (r->engine.collect.root) {
		info.si_pid = 0;
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) ||
		    !info.si_pid || info.si_pid == r->launch.pid)
			return;
		waitpid(info.si_pid, NULL, WNOHANG);
	}
}

/* What will hold of the command, should it end before /proc is read. */
static struct coll_words *words_of_command(char **argv)
{
	CLEANUP(free_ptr) char *cgroup = coll_proc_cgroup((uint32_t)getpid());
	CLEANUP(strbuf_fini) struct strbuf line = { 0 };

	for (char **arg = argv; *arg; arg++)
		strbuf_printf(&line, "%s%s", arg == argv ? "" : " ", *arg);
	return strbuf_error(&line) ? NULL
				   : coll_words_new(line.data, cgroup, getuid(), false);
}

/* The processes that exist already. */
static int know_processes(struct run *r, struct err *err)
{
	struct coll_collect *collect = &r->engine.collect;
	struct coll_tasks *tasks = &collect->tasks;
	int rc = 0;

	collect->tree = !r->opt.all && !r->per_task;
	collect->self = r->opt.all ? (uint32_t)getpid() : 0;
	watch_descendants(r);
	if (r->opt.all && r->opt.source->tells_who)
		return 0;
	if (r->opt.all)
		return coll_processes_all(collect, err);
	if (r->opt.pids.len)
		collect->born_after_ns = clock_mono_ns();
	vec_for(&r->opt.pids, pid) {
		rc = coll_processes_now(collect, *pid, err);
		if (rc)
			return rc;
		coll_tasks_adopt(coll_tasks_find(tasks, *pid));
	}
	if (!r->opt.pids.len) {
		struct coll_task *task = coll_tasks_need(tasks, (uint32_t)r->launch.pid);

		if (!task)
			return err_errno(err, -ENOMEM, "processes");
		task->known = true;
		task->await_exec = true;
		task->start_ns = coll_proc_start(task->tgid);
		task->words = words_of_command(r->opt.command);
	}
	return 0;
}

/* Everything that can fail, before anything of an older session is touched. */
static int prepare(struct run *r, struct err *err)
{
	int rc = coll_engine_plan(&r->engine, &r->opt, err);
	struct priority *p = &r->engine.priority;

	if (!rc)
		rc = coll_watch_init(&r->watch, err);
	if (!rc)
		rc = coll_watch_processes(&r->watch, &r->opt.pids, err);
	if (!rc && r->opt.command)
		rc = coll_launch_prepare(&r->launch, r->opt.command, &r->watch.old_mask,
					 err);
	/* the command was forked before, and keeps the priority that it should have */
	priority_raise(p, r->opt.realtime);
	log_debug(LOG_RECORD, "nice value %d, real-time priority %u", p->nice, p->level);
	if (!rc)
		rc = open_source(r, err);
	if (!rc)
		rc = coll_engine_open_session(&r->engine, r->opt.append, err);
	if (!rc)
		rc = know_processes(r, err);
	if (!rc)
		add_notes(r);
	return rc;
}

static int give_up(const struct run *r, int rc, struct err *err)
{
	const struct coll_source *s = r->engine.source;
	const struct err *why = s->ops->why ? s->ops->why(s) : NULL;

	if (why && why->code)
		return err_set(err, rc, "%s", why->msg);
	return err_errno(err, rc, "collecting was given up");
}

static int collect(struct run *r, struct err *err)
{
	struct coll_engine *e = &r->engine;
	int rc = 0, stopped;

	while (rc >= 0 && !coll_watch_done(&r->watch, &r->launch)) {
		coll_watch_source(&r->watch, e->source->ops->poll_fd(e->source));
		coll_watch_wait(&r->watch, &r->launch, coll_engine_pause_ms(e, rc));
		reap_orphans(r);
		rc = coll_engine_round(e);
		coll_progress_tell(&r->progress, &e->collect.stats, clock_mono_ns());
		coll_engine_tell_sometimes(e, clock_mono_ns());
	}
	stopped = coll_engine_stop(e);
	rc = rc < 0 ? rc : stopped;
	return rc < 0 ? give_up(r, rc, err) : 0;
}

/* What became of the extended samples, for `status` too. */
static void tell_ext(struct run *r)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	coll_ext_print_stats(&r->opt.ext, &text);
	coll_engine_note(&r->engine, strbuf_str(&text));
	if (text.len)
		spec_stats_note(r->engine.session.fd, strbuf_str(&text), NULL);
}

/* Another generation shows what could not be kept to those who look already. */
static void keep_names(struct run *r)
{
	CLEANUP(coll_held_close) coll_held_fds held = { 0 };
	const struct coll_engine *e = &r->engine;
	const struct coll_symbols *how = &r->opt.symbols;
	int samples = e->session.samples_fd;

	if (!e->collect.stats.value[SPEC_STAT_STORED])
		return;
	coll_held_copy(&e->collect.images.held, &held);
	if (coll_symbols_keep_held(samples, e->session.name, how, &held) +
	    coll_symbols_keep(samples, e->session.name, how))
		coll_engine_tell(&r->engine, true);
}

static int finish(struct run *r)
{
	CLEANUP(strbuf_fini) struct strbuf left_out = { 0 };
	struct coll_engine *e = &r->engine;
	struct err err = { 0 };
	const struct coll_sink *sink;
	uint64_t rate_hz = coll_options_hz(&r->opt);
	bool by_count = r->opt.events.len && r->opt.events.data[0].spec.count;

	tell_ext(r);
	coll_engine_settle(e);
	coll_engine_make_arcs(e);
	coll_engine_tell(e, true);
	if (!e->untold && spec_stats_sync(e->session.fd, &err)) {
		log_err("figures of the session could not be written: %s", err.msg);
		e->untold = true;
	}
	coll_progress_end(&r->progress);
	coll_collect_left_out(&e->collect, &left_out);
	coll_progress_result(&r->progress, &e->session, &e->collect.stats,
			     strbuf_str(&left_out), by_count ? 0 : rate_hz,
			     clock_mono_ns());
	keep_names(r);
	sink = coll_collect_broken(&e->collect);
	if (sink)
		log_err("NOT EVERYTHING WAS STORED: %s (%s)", sink->why.msg,
			sink->broken == -ENOSPC
				? "free some space; what was stored is kept"
				: "what was stored is kept");
	return sink || e->untold;
}

/* "-g 5 CMD": it was meant for -g, and is taken for the command. */
static int check_command(const struct coll_options *o, struct err *err)
{
	const char *word = o->command[0];
	int rc = coll_launch_check(word, err);
	struct coll_callgraph meant;

	if (!rc || !o->callgraph.how || coll_callgraph_parse(word, &meant, NULL))
		return rc;
	return err_set(err, rc,
		       "%s: no such command; if it should be how stacks are recorded: -g "
		       "takes no argument, --callgraph=%s does",
		       word, word);
}

static int run_record(struct run *r, struct err *err)
{
	int rc = r->opt.command ? check_command(&r->opt, err) : 0, failed;

	if (rc)
		return coll_launch_refused(rc);
	rc = prepare(r, err);
	if (rc)
		return EXIT_FAILED;
	*err = (struct err){ 0 }; /* what was refused first and then done otherwise */
	coll_progress_init(&r->progress, clock_mono_ns());
	r->progress.stacks = r->opt.callgraph.how;
	rc = coll_engine_start(&r->engine, err);
	if (!rc && r->launch.pid) {
		rc = coll_launch_go(&r->launch, r->opt.command[0], err);
		if (rc)
			coll_engine_tell(&r->engine,
					 true); /* nobody is recording any more */
		if (rc)
			return coll_launch_refused(rc);
	}
	if (rc)
		return EXIT_FAILED;
	rc = collect(r, err);
	failed = finish(r);
	return rc || failed ? EXIT_FAILED : coll_watch_status(&r->watch, &r->launch);
}

static int prepare_replay(struct run *r, struct err *err)
{
	struct coll_engine *e = &r->engine;
	struct coll_source_want want = { .path = r->opt.replay,
					 .counter = coll_stream_events_add,
					 .counter_ctx = &r->counters };
	char notes[256];
	int rc = r->opt.vmlinux ? coll_kernel_check(r->opt.vmlinux, err) : 0;

	if (!rc)
		rc = coll_stream_events_init(&r->counters, &r->opt.ext, err);
	if (!rc)
		rc = r->opt.source->open(&want, &e->source, notes, err);
	if (!rc)
		rc = coll_engine_plan_saved(e, &r->opt, r->counters.events, err);
	if (!rc)
		rc = coll_engine_open_session(e, r->opt.append, err);
	/* a signal that came before has ended it, and nothing is lost */
	if (!rc)
		rc = coll_watch_init(&r->watch, err);
	e->collect.tasks.saved = true;
	e->collect.jit.off = true;
	e->collect.images.vdso = (struct build_id){ 0 }; /* of another kernel */
	return rc;
}

/* Until the stream ends, or somebody ends it. */
static int read_saved(struct run *r)
{
	struct coll_engine *e = &r->engine;
	int rc = 1;

	while (rc > 0) {
		coll_watch_wait(&r->watch, &r->launch, coll_engine_pause_ms(e, 0));
		if (coll_watch_done(&r->watch, &r->launch)) {
			coll_watch_let_through(&r->watch);
			return 0;
		}
		if (coll_watch_ready(&r->watch)) /* it may be a pipe */
			rc = coll_engine_round(e);
		coll_progress_tell(&r->progress, &e->collect.stats, clock_mono_ns());
		coll_engine_tell_sometimes(e, clock_mono_ns());
	}
	return rc;
}

static void note_cut(struct run *r)
{
	static const char text[] =
		"a signal ended the replay: what follows in the stream is not in the "
		"session";

	coll_engine_note(&r->engine, text);
	spec_stats_note(r->engine.session.fd, text, NULL);
}

static int run_replay(struct run *r, struct err *err)
{
	struct coll_engine *e = &r->engine;
	int rc = prepare_replay(r, err), failed;

	if (rc)
		return EXIT_FAILED;
	coll_progress_init(&r->progress, clock_mono_ns());
	r->progress.saved = true;
	/* or by unwinding, as far as its driver copied stacks */
	r->progress.stacks = COLL_BY_FRAME_POINTERS;
	coll_watch_source(&r->watch, e->source->ops->poll_fd(e->source));
	rc = coll_engine_start(e, err);
	rc = rc ? rc : read_saved(r);
	if (!rc)
		rc = coll_engine_stop(e);
	if (rc < 0)
		give_up(r, rc, err);
	if (r->watch.interrupts)
		note_cut(r);
	failed = finish(r);
	if (rc || failed)
		return EXIT_FAILED;
	return r->watch.interrupts ? 128 + r->watch.signal : 0;
}

/* A subcommand: its options, and what is done by them, which says why it failed. */
static int command(const char *name, int argc, char **argv,
		   enum opt_result (*parse)(int argc, char **argv,
					    struct coll_options *o),
		   int (*run)(struct run *r, struct err *err))
{
	CLEANUP(run_fini)
	struct run r = { .engine = COLL_ENGINE_NONE,
			 .launch = { .go_fd = -1, .error_fd = -1 } };
	enum opt_result result;
	struct err err = { 0 };
	int status;

	if (run == run_record)
		coll_watch_begin(&r.watch);
	log_init(name);
	result = parse(argc, argv, &r.opt);
	if (result != OPT_RUN)
		return opt_exit(result);
	if (opt_verbose)
		log_set_level(LOG_DEBUG);
	status = run(&r, &err);
	if (err.code)
		log_err("%s", err.msg);
	return status;
}

int coll_record(int argc, char **argv)
{
	return command("opcollect record", argc, argv, coll_options_parse, run_record);
}

int coll_replay(int argc, char **argv)
{
	/* a script that runs it in the background ignores them, and it inherits that */
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	return command("opcollect replay", argc, argv, coll_options_parse_replay,
		       run_replay);
}
