/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "collector/collect.h"
#include "collector/counters.h"
#include "collector/launch.h"
#include "collector/options.h"
#include "collector/plan.h"
#include "collector/procfs.h"
#include "collector/progress.h"
#include "collector/session.h"
#include "collector/src_kernel.h"
#include "collector/src_perf.h"
#include "collector/src_replay.h"
#include "collector/watch.h"

enum {
	ROUND_MS = 100, /* how often rings are looked at, at least */
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
};

#define SECOND_NS 1000000000ULL
#define LATE_NS (2 * SECOND_NS) /* how long a process is remembered after its end */

/* One run, from its options to its last words. */
struct run {
	struct coll_options opt;
	struct coll_plan plan;
	struct coll_counters counters; /* of a saved stream */
	struct coll_watch watch;
	struct coll_launch launch;
	struct coll_session session;
	struct coll_collect collect;
	struct coll_progress progress;
	struct coll_source *source;
	VEC(uint32_t) tids; /* the threads that are opened, if the kernel follows them */
	VEC(char *) notes;  /* what `status` should say; heap */
	bool per_task;      /* the kernel follows the tree */
	bool *throttled, *throttle_told;
	uint64_t told_ns;
	uint64_t told_taken;
	bool untold;        /* figures could not be written */
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * SECOND_NS + (uint64_t)ts.tv_nsec;
}

static void run_fini(struct run *r)
{
	if (r->source)
		r->source->ops->free(r->source);
	coll_collect_fini(&r->collect);
	coll_session_fini(&r->session);
	coll_launch_fini(&r->launch);
	coll_watch_fini(&r->watch);
	coll_plan_fini(&r->plan);
	coll_counters_fini(&r->counters);
	coll_options_fini(&r->opt);
	vec_for(&r->notes, note)
		free(*note);
	vec_fini(&r->notes);
	vec_fini(&r->tids);
	free(r->throttled);
	free(r->throttle_told);
}

/* Something that a person should know, at once and in `status`. */
static void add_note(struct run *r, const char *text)
{
	char *copy = *text ? strdup(text) : NULL;

	if (!copy)
		return;
	log_note("%s", text);
	if (vec_push(&r->notes, copy))
		free(copy);
}

/* -p: the processes must be there; a thread stands for its process. */
static int find_processes(struct run *r, struct err *err)
{
	vec_for(&r->opt.pids, pid) {
		uint32_t tgid = coll_proc_tgid(*pid);
		int rc;

		if (!tgid)
			return err_set(err, -ESRCH,
				       "-p %u: there is no such process (has it ended?)",
				       *pid);
		*pid = tgid;
		rc = coll_watch_process(&r->watch, tgid, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int add_tid(void *ctx, uint32_t tid)
{
	struct run *r = ctx;

	return vec_push(&r->tids, tid);
}

static int open_driver(struct run *r, struct err *err)
{
	struct coll_driver_options driver = {
		.events = r->opt.events.data,
		.nr_events = r->opt.events.len,
		.ext = &r->opt.ext,
		.callchain = r->opt.callgraph,
		.pages = r->opt.pages == COLL_DEFAULT_PAGES ? 0 : r->opt.pages,
		.save = r->opt.save,
	};

	return coll_driver_new(&driver, &r->source, err);
}

/* Samples everybody and sorts out later; where that is not allowed, single threads. */
static int open_source(struct run *r, struct err *err)
{
	struct coll_perf_options perf = {
		.events = r->opt.events.data,
		.nr_events = r->opt.events.len,
		.callchain = r->opt.callgraph,
		.pages = r->opt.pages,
	};
	char notes[256];
	int rc;

	if (r->opt.driver)
		return open_driver(r, err);
	rc = coll_perf_new(&perf, &r->source, notes, err);
	if ((rc == -EACCES || rc == -EPERM) && !r->opt.all) {
		r->per_task = true;
		vec_for(&r->opt.pids, pid)
			coll_proc_each_thread(*pid, add_tid, r);
		perf.on_exec = !r->opt.pids.len;
		if (perf.on_exec)
			add_tid(r, (uint32_t)r->launch.pid);
		perf.tids = r->tids.data;
		perf.nr_tids = r->tids.len;
		rc = coll_perf_new(&perf, &r->source, notes, err);
	}
	if (!rc)
		add_note(r, notes);
	return rc;
}

/* What `status`, and the person who started it, should know of the run. */
static void add_notes(struct run *r)
{
	bool kernel = false;

	if (r->opt.driver)
		add_note(r, "samples were taken by the driver opfs_sampler");
	if (r->per_task)
		add_note(r, "no right to sample whole CPUs: short-lived children are "
			    "under-counted; to see them run as root or with CAP_PERFMON, "
			    "or: sysctl kernel.perf_event_paranoid=0");
	vec_for(&r->opt.events, e) {
		char text[256];

		kernel |= e->spec.kernel && !e->user_only;
		log_debug("%s: a sample every %llu (0: %llu a second)", e->spec.event.name,
			  (unsigned long long)e->period, (unsigned long long)e->rate_hz);
		if (!e->user_only)
			continue;
		snprintf(text, sizeof(text),
			 "%s: no right to sample the kernel: user code only; to see the "
			 "kernel run as root, or: sysctl kernel.perf_event_paranoid=1",
			 e->spec.event.name);
		add_note(r, text);
	}
	if (kernel)
		add_note(r, r->collect.kernel.note);
}

/*
 * The driver tells who runs and who started it, but not of every process between: orphans
 * of the command come to the collector, so that each one's parents lead to it.
 */
static void watch_descendants(struct run *r)
{
	struct stat st;

	if (!r->opt.driver || !r->launch.pid)
		return;
	if (!prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
		r->collect.root = (uint32_t)getpid();
	if (!stat("/proc/self/exe", &st))
		r->collect.own_inode = st.st_ino;
}

/* Orphans that ended.  The command itself is waited for elsewhere. */
static void reap_orphans(const struct run *r)
{
	siginfo_t info;

	while (r->collect.root) {
		info.si_pid = 0;
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) || !info.si_pid ||
		    info.si_pid == r->launch.pid)
			return;
		waitpid(info.si_pid, NULL, WNOHANG);
	}
}

/* Who is there already. */
static int know_processes(struct run *r, struct err *err)
{
	struct coll_tasks *tasks = &r->collect.tasks;
	int rc = 0;

	r->collect.tree = !r->opt.all && !r->per_task;
	watch_descendants(r);
	if (r->opt.all && r->opt.driver)
		return 0;
	if (r->opt.all)
		return coll_proc_read_all(tasks, err);
	vec_for(&r->opt.pids, pid) {
		rc = coll_proc_read(tasks, *pid, err);
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
	}
	return 0;
}

/* Which kernel ran: this one, or for a saved stream the one that files are given of. */
static void say_kernel(const struct coll_options *o, struct coll_kernel_options *kernel)
{
	static const char nothing[] = "/dev/null";

	*kernel = (struct coll_kernel_options){ .vmlinux = o->vmlinux,
						.no_vmlinux = o->no_vmlinux };
	if (!o->replay)
		return;
	kernel->saved = true;
	kernel->no_vmlinux |= !o->vmlinux && !o->kallsyms;
	kernel->kallsyms = o->kallsyms ? o->kallsyms : nothing;
	kernel->modules = o->modules ? o->modules : nothing;
}

static int open_session(struct run *r, const struct coll_sink_event *events, struct err *err)
{
	struct coll_kernel_options kernel;
	int rc = coll_session_open(&r->session, r->opt.session_dir, r->opt.append, err);

	say_kernel(&r->opt, &kernel);
	if (!rc)
		rc = coll_collect_init(&r->collect, r->session.fd, events, &kernel,
				       r->opt.images.data, r->opt.images.len, err);
	if (rc)
		return rc;
	r->collect.ext = &r->opt.ext;
	r->collect.ext_first = (uint32_t)r->opt.events.len;
	r->collect.separate = r->opt.separate;
	r->collect.filter = r->opt.images.len;
	r->collect.callgraph = r->opt.callgraph;
	r->throttled = calloc(r->opt.events.len, sizeof(bool));
	r->throttle_told = calloc(r->opt.events.len, sizeof(bool));
	if (!r->throttled || !r->throttle_told)
		return err_errno(err, -ENOMEM, "events");
	r->collect.throttled = r->throttled;
	return 0;
}

/* Everything that can fail, before anything of an older session is touched. */
static int prepare(struct run *r, struct err *err)
{
	int rc = coll_plan_init(&r->plan, &r->opt, err);

	if (!rc && r->opt.vmlinux)
		rc = coll_kernel_check(r->opt.vmlinux, err);
	if (!rc)
		rc = coll_watch_init(&r->watch, err);
	if (!rc)
		rc = find_processes(r, err);
	if (!rc && r->opt.command)
		rc = coll_launch_prepare(&r->launch, r->opt.command, &r->watch.old_mask,
					 err);
	if (!rc)
		rc = open_source(r, err);
	if (!rc)
		rc = open_session(r, r->plan.sink, err);
	if (!rc)
		rc = know_processes(r, err);
	if (!rc)
		add_notes(r);
	return rc;
}

/* Figures for whoever looks at the session meanwhile. */
static void tell(struct run *r, bool closed)
{
	struct err err = { 0 };
	int rc = 0;

	for (size_t i = 0; i < r->opt.events.len; i++) {
		if (!r->throttled[i] || r->throttle_told[i])
			continue;
		r->throttle_told[i] = true;
		rc = spec_stats_throttled(r->session.fd, r->plan.sink[i].name, &err);
	}
	if (!rc)
		rc = coll_session_tell(&r->session, &r->collect.stats, closed, &err);
	if (rc && (!r->untold || closed))
		log_err("figures of the session could not be written: %s", err.msg);
	r->untold = rc;
}

static void tell_sometimes(struct run *r)
{
	uint64_t now = now_ns(), taken = r->collect.stats.value[SPEC_STAT_TAKEN];

	coll_progress_tell(&r->progress, &r->collect.stats, now);
	if (now - r->told_ns < SECOND_NS || taken == r->told_taken)
		return;
	r->told_ns = now;
	r->told_taken = taken;
	tell(r, false);
}

static int give_up(const struct run *r, int rc, struct err *err)
{
	const struct coll_source_ops *ops = r->source->ops;
	const struct err *why = ops->why ? ops->why(r->source) : NULL;

	if (why && why->code)
		return err_set(err, rc, "%s", why->msg);
	return err_errno(err, rc, "collecting was given up");
}

static int collect(struct run *r, struct err *err)
{
	const struct coll_source_ops *ops = r->source->ops;
	int rc = 0;

	while (rc >= 0 && !coll_watch_done(&r->watch, &r->launch)) {
		coll_watch_wait(&r->watch, &r->launch, rc ? 1 : ROUND_MS);
		reap_orphans(r);
		rc = ops->drain(r->source, false, coll_collect_take, &r->collect);
		if (r->collect.last_ns > LATE_NS)
			coll_tasks_sweep(&r->collect.tasks, r->collect.last_ns - LATE_NS);
		tell_sometimes(r);
	}
	ops->stop(r->source);
	if (rc >= 0)
		rc = ops->drain(r->source, true, coll_collect_take, &r->collect);
	return rc < 0 ? give_up(r, rc, err) : 0;
}

/* Losses that the kernel counted and could not report in the ring. */
static void count_untold(struct run *r)
{
	uint64_t lost = r->source->ops->lost_untold(r->source);

	r->collect.stats.value[SPEC_STAT_TAKEN] += lost;
	r->collect.stats.value[SPEC_STAT_LOST_RECORDS] += lost;
}

/* What became of the extended samples, for `status` too. */
static void tell_ext(struct run *r)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	coll_ext_print_stats(&r->opt.ext, &text);
	add_note(r, strbuf_str(&text));
	if (text.len)
		spec_stats_note(r->session.fd, strbuf_str(&text), NULL);
}

static int finish(struct run *r)
{
	CLEANUP(strbuf_fini) struct strbuf left_out = { 0 };
	const struct coll_sink *sink = &r->collect.sink;
	uint64_t rate_hz = r->opt.rate_hz ? r->opt.rate_hz : COLL_DEFAULT_HZ;
	bool by_count = r->opt.events.len && r->opt.events.data[0].spec.count;

	count_untold(r);
	tell_ext(r);
	tell(r, true);
	coll_progress_end(&r->progress);
	coll_collect_left_out(&r->collect, &left_out);
	coll_progress_result(&r->progress, &r->session, &r->collect.stats,
			     strbuf_str(&left_out),
			     by_count ? 0 : rate_hz, now_ns());
	if (sink->broken)
		log_err("NOT EVERYTHING WAS STORED: %s (%s)", sink->why.msg,
			sink->broken == -ENOSPC ? "free some space; what was stored is kept" :
						  "what was stored is kept");
	return sink->broken || r->untold;
}

/* The exit status of a run that did all it could. */
static int status_of(const struct run *r)
{
	if (!r->launch.pid)
		return 0;
	return r->launch.ended ? coll_launch_exit_status(&r->launch) :
				 128 + r->watch.signal;
}

static int run(struct run *r, struct err *err)
{
	int rc = prepare(r, err), failed;

	if (rc)
		return EXIT_FAILED;
	*err = (struct err){ 0 }; /* what was refused first and then done otherwise */
	vec_for(&r->notes, note)
		spec_stats_note(r->session.fd, *note, NULL);
	coll_progress_init(&r->progress, now_ns());
	coll_watch_source(&r->watch, r->source->ops->poll_fd(r->source));
	rc = r->source->ops->start(r->source, err);
	if (!rc)
		tell(r, false);
	if (!rc && r->launch.pid) {
		rc = coll_launch_go(&r->launch, r->opt.command[0], err);
		if (rc)
			tell(r, true); /* nobody is recording any more */
		if (rc)
			return rc == -ENOENT ? COLL_EXIT_NOT_FOUND :
					       COLL_EXIT_NOT_EXECUTABLE;
	}
	if (rc)
		return EXIT_FAILED;
	rc = collect(r, err);
	failed = finish(r);
	return rc || failed ? EXIT_FAILED : status_of(r);
}

int coll_record(int argc, char **argv)
{
	CLEANUP(run_fini) struct run r = { .session = { .lock_fd = -1, .fd = -1 },
					   .launch = { .go_fd = -1, .error_fd = -1 } };
	struct err err = { 0 };
	int status;

	log_init("opcollect record");
	switch (coll_options_parse(argc, argv, &r.opt)) {
	case OPT_DONE:
		return 0;
	case OPT_WRONG:
		return EXIT_USAGE;
	default:
		break;
	}
	if (r.opt.command && coll_launch_check(r.opt.command[0], &err)) {
		log_err("%s", err.msg);
		return err.code == -ENOENT ? COLL_EXIT_NOT_FOUND : COLL_EXIT_NOT_EXECUTABLE;
	}
	if (opt_verbose)
		log_set_level(LOG_DEBUG);
	status = run(&r, &err);
	if (err.code)
		log_err("%s", err.msg);
	return status;
}

static int prepare_replay(struct run *r, struct err *err)
{
	struct coll_replay_options replay = { .file = r->opt.replay,
					      .counter = coll_counters_add,
					      .ctx = &r->counters };
	int rc = r->opt.vmlinux ? coll_kernel_check(r->opt.vmlinux, err) : 0;

	if (!rc)
		rc = coll_counters_init(&r->counters, &r->opt.ext, err);
	if (!rc)
		rc = coll_replay_new(&replay, &r->source, err);
	if (!rc)
		rc = open_session(r, r->counters.events, err);
	r->collect.tasks.saved = true;
	r->collect.images.vdso = (struct spec_build_id){ 0 }; /* of another kernel */
	return rc;
}

static int run_replay(struct run *r, struct err *err)
{
	int rc = prepare_replay(r, err), failed;

	if (rc)
		return EXIT_FAILED;
	coll_progress_init(&r->progress, now_ns());
	r->progress.saved = true;
	tell(r, false);
	while ((rc = r->source->ops->drain(r->source, true, coll_collect_take,
					   &r->collect)) > 0) {
		if (r->collect.last_ns > LATE_NS)
			coll_tasks_sweep(&r->collect.tasks, r->collect.last_ns - LATE_NS);
		tell_sometimes(r);
	}
	if (rc < 0)
		give_up(r, rc, err);
	failed = finish(r);
	return rc || failed ? EXIT_FAILED : 0;
}

int coll_replay(int argc, char **argv)
{
	CLEANUP(run_fini) struct run r = { .session = { .lock_fd = -1, .fd = -1 },
					   .launch = { .go_fd = -1, .error_fd = -1 } };
	struct err err = { 0 };
	int status;

	log_init("opcollect replay");
	switch (coll_options_parse_replay(argc, argv, &r.opt)) {
	case OPT_DONE:
		return 0;
	case OPT_WRONG:
		return EXIT_USAGE;
	default:
		break;
	}
	status = run_replay(&r, &err);
	if (err.code)
		log_err("%s", err.msg);
	return status;
}
