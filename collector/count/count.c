/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/count/count.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "collector/count/formats.h"
#include "collector/count/options.h"
#include "collector/count/tally.h"
#include "collector/run/launch.h"
#include "collector/run/watch.h"
#include "collector/source/cpus.h"
#include "collector/who/procfs.h"

enum { EXIT_FAILED = 1, LOOK_MS = 100 /* how often whether threads have ended */ };

/* One run, from its options to its last line. */
struct run {
	struct coll_count_options opt;
	struct coll_watch watch;
	struct coll_launch launch;
	struct ids places; /* threads, or CPUs: */
	bool cpus;
	bool on_exec; /* the command is what is counted */
	struct coll_tally tally;
	struct coll_count_sheet sheet;
	struct strbuf out; /* what was not written yet */
	int file;          /* of -f */
	/* CLOCK_MONOTONIC: when it began, the interval that goes on, and its end */
	uint64_t begun_ns, since_ns, due_ns;
	uint64_t told; /* intervals */
	bool complete; /* all that is to be printed was, or cannot be */
	bool failed;
};

static void run_fini(struct run *r)
{
	coll_tally_fini(&r->tally);
	coll_launch_fini(&r->launch);
	coll_watch_fini(&r->watch);
	coll_count_options_fini(&r->opt);
	ids_fini(&r->places);
	strbuf_fini(&r->out);
	close_fd(&r->file);
}

/* ---- whom to count */

static int add_place(void *ctx, uint32_t tid)
{
	return ids_add(&((struct run *)ctx)->places, tid);
}

static int find_threads(struct run *r, struct err *err)
{
	vec_for(&r->opt.pids, pid)
		coll_proc_each_thread(*pid, add_place, r);
	vec_for(&r->opt.tids, tid) {
		if (!coll_proc_tgid(*tid))
			return err_set(err, -ESRCH,
				       "-r %u: there is no such thread (has it ended?)",
				       *tid);
		if (add_place(r, *tid))
			return err_errno(err, -ENOMEM, "threads");
	}
	return r->places.len ? 0 : err_set(err, -ESRCH, "-p: the processes have ended");
}

static int find_cpus(struct run *r, struct err *err)
{
	CLEANUP(ids_fini) struct ids online = { 0 };
	int rc = coll_cpus_online(&online, err);

	if (rc)
		return rc;
	vec_for(&r->opt.cpus, cpu)
		if (!ids_has(&online, *cpu))
			return err_set(err, -ENODEV,
				       "-C: CPU %u is not online: there are %zu, see "
				       "/sys/devices/system/cpu/online",
				       *cpu, online.len);
	r->places = TAKE(*(r->opt.all ? &online : &r->opt.cpus));
	r->cpus = true;
	return 0;
}

static int find_places(struct run *r, struct err *err)
{
	if (r->opt.all || r->opt.cpus.len) {
		r->sheet.of = "cpus";
		return find_cpus(r, err);
	}
	if (r->opt.pids.len || r->opt.tids.len) {
		r->sheet.of = r->opt.pids.len ? "processes" : "threads";
		return find_threads(r, err);
	}
	r->sheet.of = "command";
	r->on_exec = true;
	return add_place(r, (uint32_t)r->launch.pid) ? err_errno(err, -ENOMEM, "command")
						     : 0;
}

/* Counts that are not of all that was asked for are told to be. */
static void tell_user_only(const struct run *r)
{
	CLEANUP(strbuf_fini) struct strbuf labels = { 0 };

	vec_for(&r->opt.events, e)
		if (e->event.user_only)
			strbuf_printf(&labels, "%s%s", labels.len ? ", " : "", e->label);
	if (labels.len)
		log_note("%s: no right to count in the kernel: user code only; to count "
			 "both run as root or with CAP_PERFMON, or: sysctl "
			 "kernel.perf_event_paranoid=1",
			 strbuf_str(&labels));
}

static bool has_label(const struct run *r, const char *label)
{
	vec_for(&r->opt.events, e)
		if (!strcmp(e->label, label))
			return true;
	return false;
}

/* As perf does: a count of user mode only is not taken for all.  Labels stay unique. */
static int label_user_only(struct run *r, struct err *err)
{
	vec_for(&r->opt.events, e) {
		CLEANUP(strbuf_fini) struct strbuf label = { 0 };

		if (!e->event.user_only)
			continue;
		strbuf_printf(&label, "%s:u", e->label);
		if (strbuf_error(&label))
			return err_errno(err, -ENOMEM, "events");
		if (has_label(r, label.data))
			continue;
		free(e->label);
		e->label = TAKE(label.data);
	}
	return 0;
}

static int open_counters(struct run *r, struct err *err)
{
	const struct coll_tally_want want = {
		.events = &r->opt.events,
		.places = &r->places,
		.cpus = r->cpus,
		.inherit = !r->cpus && !r->opt.tids.len,
		.on_exec = r->on_exec,
	};

	return coll_tally_open(&r->tally, &want, err);
}

/* Everything that can fail, before the command runs. */
static int prepare(struct run *r, struct err *err)
{
	int rc = coll_watch_init(&r->watch, err);

	if (!rc && r->opt.output) {
		r->file = open(r->opt.output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
			       0666);
		if (r->file < 0)
			rc = err_errno(err, -errno, "-f %s", r->opt.output);
	}
	if (!rc && r->opt.command)
		rc = coll_launch_prepare(&r->launch, r->opt.command, &r->watch.old_mask,
					 err);
	/* the command was forked before, and keeps the limit that it should have */
	file_raise_limit();
	if (!rc)
		rc = coll_watch_processes(&r->watch, &r->opt.pids, err);
	if (!rc)
		rc = find_places(r, err);
	if (!rc)
		rc = open_counters(r, err);
	if (rc)
		return rc;
	tell_user_only(r);
	return label_user_only(r, err);
}

/* ---- what is printed */

static void give_up(struct run *r, int rc)
{
	log_err("%s: %s", r->opt.output ? r->opt.output : "standard output",
		strerror(-rc));
	r->failed = r->complete = true;
}

static void write_out(struct run *r)
{
	int rc = strbuf_error(&r->out);

	if (!rc)
		rc = file_write_all(r->file < 0 ? STDOUT_FILENO : r->file,
				    strbuf_str(&r->out), r->out.len);
	strbuf_reset(&r->out);
	if (rc)
		give_up(r, rc);
}

static void add_counts(struct run *r, uint64_t now_ns)
{
	const struct coll_count_time t = { .begin_ns = r->since_ns - r->begun_ns,
					   .end_ns = now_ns - r->begun_ns,
					   .real_ns = clock_real_ns() };

	coll_tally_take(&r->tally);
	r->opt.format->counts(&r->sheet, &t, &r->out);
	r->since_ns = now_ns;
	r->told++;
}

static void end_output(struct run *r)
{
	r->opt.format->end(&r->sheet, r->since_ns - r->begun_ns, &r->out);
	write_out(r);
	/* a file on the network may tell only now that it is full */
	if (r->file >= 0 && close(r->file) && !r->failed)
		give_up(r, -errno);
	r->file = -1;
	r->complete = true;
}

static void tell_interval(struct run *r, uint64_t now_ns)
{
	add_counts(r, now_ns);
	while (r->due_ns <= now_ns)
		r->due_ns += r->opt.interval_ns;
	if (r->told == r->opt.times)
		end_output(r);
	else
		write_out(r);
}

/* ---- the run */

static bool threads_are_over(const struct run *r)
{
	if (!r->opt.tids.len || r->launch.pid)
		return false;
	for (size_t i = 0; i < r->places.len; i++)
		if (!coll_proc_thread_is_over(r->places.data[i]))
			return false;
	return true;
}

static bool over(const struct run *r)
{
	return coll_watch_done(&r->watch, &r->launch) ||
	       (r->complete && !r->launch.pid) || threads_are_over(r);
}

/* Until the interval ends, in milliseconds; -1: for ever. */
static int pause_ms(const struct run *r, uint64_t now_ns)
{
	uint64_t left = r->due_ns > now_ns ? r->due_ns - now_ns : 0;
	int ms = -1;

	if (r->opt.interval_ns && !r->complete)
		ms = (int)((left + CLOCK_NS_PER_MS - 1) / CLOCK_NS_PER_MS);
	return r->opt.tids.len && (ms < 0 || ms > LOOK_MS) ? LOOK_MS : ms;
}

static void count(struct run *r)
{
	uint64_t now_ns;

	while (!over(r)) {
		coll_watch_wait(&r->watch, &r->launch, pause_ms(r, clock_mono_ns()));
		now_ns = clock_mono_ns();
		if (r->opt.interval_ns && !r->complete && now_ns >= r->due_ns)
			tell_interval(r, now_ns);
	}
	if (r->complete)
		return;
	/* the whole, or what an interval had of its time */
	add_counts(r, clock_mono_ns());
	end_output(r);
}

static int start(struct run *r, struct err *err)
{
	r->sheet.tally = &r->tally;
	r->sheet.command = r->opt.command;
	r->sheet.by = r->opt.by_cpu ? "cpu" : r->opt.by_thread ? "thread" : NULL;
	r->sheet.intervals = r->opt.interval_ns;
	r->opt.format->begin(&r->sheet, &r->out);
	r->begun_ns = r->since_ns = clock_mono_ns();
	r->due_ns = r->begun_ns + r->opt.interval_ns;
	return r->on_exec ? 0 : coll_tally_start(&r->tally, err);
}

static int run_count(struct run *r, struct err *err)
{
	int rc = r->opt.command ? coll_launch_check(r->opt.command[0], err) : 0;

	if (rc)
		return coll_launch_refused(rc);
	rc = prepare(r, err);
	if (!rc)
		rc = start(r, err);
	if (rc)
		return EXIT_FAILED;
	*err = (struct err){ 0 }; /* threads that ended meanwhile */
	rc = r->launch.pid ? coll_launch_go(&r->launch, r->opt.command[0], err) : 0;
	if (rc)
		return coll_launch_refused(rc);
	count(r);
	return r->failed ? EXIT_FAILED : coll_watch_status(&r->watch, &r->launch);
}

int coll_count(int argc, char **argv)
{
	CLEANUP(run_fini)
	struct run r = { .launch = { .go_fd = -1, .error_fd = -1 }, .file = -1 };
	struct err err = { 0 };
	enum opt_result result;
	int status;

	log_init("opcollect count");
	result = coll_count_options_parse(argc, argv, &r.opt);
	if (result != OPT_RUN)
		return opt_exit(result);
	if (opt_verbose)
		log_set_level(LOG_DEBUG);
	status = run_count(&r, &err);
	if (err.code)
		log_err("%s", err.msg);
	return status;
}
