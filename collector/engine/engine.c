/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/engine/engine.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "collector/store/arcs.h"
#include "collector/who/asker.h"

enum {
	ROUND_MS = 100,      /* how often rings are looked at, */
	QUIET_MS = 500,      /* while processes do nothing but run, */
	ASKING_MS = 5,       /* and for answers, while questions are open, */
	ASKING_MOST_MS = 40, /* if none comes */
	USUAL_FRAMES = 512,  /* of a stack that is unwound, unless others are asked for */
	NAMES_S = 10,        /* how long a session that is over waits for names of code */
};

#define SECOND_NS CLOCK_NS_PER_S
#define LATE_NS (2 * SECOND_NS) /* how long a process is remembered after its end */

void coll_engine_close_source(struct coll_engine *e)
{
	if (e->source)
		e->source->ops->free(e->source);
	e->source = NULL;
	e->running = false;
}

void coll_engine_forget_notes(struct coll_engine *e)
{
	vec_for(&e->notes, note)
		free(*note);
	vec_fini(&e->notes);
}

void coll_engine_fini(struct coll_engine *e)
{
	coll_engine_close_source(e);
	coll_collect_fini(&e->collect);
	coll_session_fini(&e->session);
	coll_plan_fini(&e->plan);
	coll_engine_forget_notes(e);
	strbuf_fini(&e->settings);
	free(e->throttled);
	free(e->throttle_told);
	e->throttled = e->throttle_told = NULL;
}

void coll_engine_note(struct coll_engine *e, const char *text)
{
	char *copy;

	vec_for(&e->notes, note)
		if (!strcmp(*note, text))
			return;
	copy = *text ? strdup(text) : NULL;
	if (!copy)
		return;
	log_note("%s", text);
	if (vec_push(&e->notes, copy))
		free(copy);
}

int coll_engine_plan_saved(struct coll_engine *e, struct coll_options *opt,
			   const struct coll_sink_event *events, struct err *err)
{
	size_t nr = opt->events.len + 1;

	e->opt = opt;
	e->events = events;
	e->throttled = calloc(nr, sizeof(bool));
	e->throttle_told = calloc(nr, sizeof(bool));
	return e->throttled && e->throttle_told ? 0 : err_errno(err, -ENOMEM, "events");
}

int coll_engine_plan(struct coll_engine *e, struct coll_options *opt, struct err *err)
{
	int rc = coll_options_derive(opt, err);

	if (!rc)
		rc = coll_plan_init(&e->plan, opt, err);
	if (!rc && opt->vmlinux)
		rc = coll_kernel_check(opt->vmlinux, err);
	return rc ? rc : coll_engine_plan_saved(e, opt, e->plan.sink, err);
}

int coll_engine_open_source(struct coll_engine *e, const uint32_t *tids, size_t nr_tids,
			    bool on_exec, struct err *err)
{
	struct coll_source_want want = {
		.events = e->opt->events.data,
		.nr_events = e->opt->events.len,
		.ext = &e->opt->ext,
		.callchain = e->opt->callgraph.how,
		.max_stack = e->opt->callgraph.frames,
		.user_stacks = e->opt->callgraph.how == COLL_BY_DWARF,
		.copy_bytes = e->opt->callgraph.copy_bytes,
		.pages = e->opt->pages,
		.tids = tids,
		.nr_tids = nr_tids,
		.on_exec = on_exec,
		.save = e->opt->save,
	};
	char notes[256] = "";
	int rc = e->opt->source->open(&want, &e->source, notes, err);

	if (!rc)
		coll_engine_note(e, notes);
	return rc;
}

/* Which kernel ran: this one, or that of the files given with a saved stream. */
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

static void use_options(struct coll_engine *e)
{
	struct coll_options *o = e->opt;

	e->collect.ext = &o->ext;
	e->collect.ext_first = (uint32_t)o->events.len;
	e->collect.separate = o->separate;
	e->collect.sink.max_separated = o->max_files;
	e->collect.tasks.threads.wanted = o->separate & COLL_SEPARATE_THREAD;
	e->collect.filter = o->images.len;
	e->collect.callgraph = o->callgraph.how;
	e->collect.max_frames = o->callgraph.frames                 ? o->callgraph.frames
				: o->callgraph.how == COLL_BY_DWARF ? USUAL_FRAMES
								    : COLL_MAX_FRAMES;
	e->collect.stacks.limit = o->stack_limit;
	e->collect.images.held.none = o->symbols.none;
	e->collect.throttled = e->throttled;
	coll_images_want(&e->collect.images, o->images.data, o->images.len);
}

int coll_engine_open_session(struct coll_engine *e, bool append, struct err *err)
{
	const struct coll_options *o = e->opt;
	struct coll_kernel_options kernel;
	int rc = coll_session_open(&e->session, o->session_dir, o->session, append,
				   e->kept, err);

	say_kernel(o, &kernel);
	if (!rc)
		rc = coll_collect_init(&e->collect, e->session.fd, e->events, &kernel,
				       o->images.data, o->images.len, err);
	if (!rc && coll_collect_ask_helpers(&e->collect))
		rc = err_errno(err, -ENOMEM, "collector");
	if (!rc)
		use_options(e);
	return rc;
}

static void note_depth(struct coll_engine *e)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	const struct coll_options *o = e->opt;
	const char *why;
	uint32_t most;

	if (o->callgraph.how != COLL_BY_FRAME_POINTERS || !o->source->max_stack)
		return;
	most = o->source->max_stack(&why);
	if (o->callgraph.frames <= most)
		return;
	strbuf_puts(&text, "--callgraph=");
	coll_callgraph_print(&o->callgraph, &text);
	strbuf_printf(&text, ": stacks of up to %u frames only: %s", most, why);
	coll_engine_note(e, strbuf_str(&text));
}

/* How much of each stack there is to unwind. */
static void note_copy(struct coll_engine *e)
{
	uint32_t wanted = e->opt->callgraph.copy_bytes;
	uint32_t copied = e->source ? e->source->copy_bytes : 0;
	char text[256];

	if (!copied)
		return;
	if (copied < wanted)
		snprintf(text, sizeof(text),
			 "--callgraph=dwarf: up to %u bytes of each stack are copied "
			 "instead of %u: larger buffers (-m) have room for more",
			 copied, wanted);
	else
		snprintf(text, sizeof(text),
			 "--callgraph=dwarf: up to %u bytes of each stack are copied",
			 copied);
	coll_engine_note(e, text);
}

void coll_engine_note_limits(struct coll_engine *e)
{
	bool kernel = false;

	note_depth(e);
	note_copy(e);

	vec_for(&e->opt->events, ev) {
		char text[256];

		kernel |= ev->spec.kernel && !ev->user_only;
		if (!ev->period)
			log_debug(LOG_RECORD, "%s: %" PRIu64 " samples a second",
				  ev->spec.event.name, ev->rate_hz);
		else
			log_debug(LOG_RECORD, "%s: a sample every %" PRIu64 "%s",
				  ev->spec.event.name, ev->period,
				  ev->spec.event.is_time ? " ns" : "");
		if (!ev->user_only)
			continue;
		snprintf(text, sizeof(text),
			 "%s: no right to sample the kernel: user code only; to see the "
			 "kernel run as root, or: sysctl kernel.perf_event_paranoid=1",
			 ev->spec.event.name);
		coll_engine_note(e, text);
	}
	if (kernel)
		coll_engine_note(e, e->collect.kernel.note);
}

/* What a session says of how it was made, from its beginning. */
static int describe(struct coll_engine *e, int session_fd, struct err *err)
{
	int rc = 0;

	if (e->settings.len)
		rc = file_replace(session_fd, COLL_SETTINGS, e->settings.data,
				  e->settings.len, 0644, 0, err);
	vec_for(&e->notes, note)
		if (!rc)
			rc = spec_stats_note(session_fd, *note, err);
	return rc;
}

int coll_engine_start(struct coll_engine *e, struct err *err)
{
	struct err why = { 0 };
	int rc;

	if (describe(e, e->session.fd, &why))
		log_warn("notes of the session could not be written: %s", why.msg);
	rc = e->source->ops->start(e->source, err);
	if (rc)
		return rc;
	e->running = true;
	coll_engine_tell(e, false);
	return 0;
}

/* Waits for questions that are not blocked: their answers come soon. */
static bool is_asking(const struct coll_engine *e)
{
	return coll_asker_works(e->collect.asker) ||
	       coll_asker_works(e->collect.tables.asker);
}

/* The next answer is looked for soon, and less often the longer none comes. */
static void await_answers(struct coll_engine *e)
{
	size_t open = coll_asker_open(e->collect.asker) +
		      coll_asker_open(e->collect.tables.asker);
	int longer = 2 * e->asking_ms;

	if (!is_asking(e))
		e->asking_ms = 0;
	else if (open != e->asked || !longer)
		e->asking_ms = ASKING_MS;
	else
		e->asking_ms = longer < ASKING_MOST_MS ? longer : ASKING_MOST_MS;
	e->asked = open;
}

static int drain(struct coll_engine *e, bool all)
{
	int rc = e->source->ops->drain(e->source, all, coll_collect_take, &e->collect);

	if (e->collect.last_ns > LATE_NS)
		coll_tasks_sweep(&e->collect.tasks, e->collect.last_ns - LATE_NS);
	coll_collect_settle(&e->collect);
	await_answers(e);
	e->last_drain_ns = clock_mono_ns();
	priority_watch(&e->priority, e->last_drain_ns, clock_thread_ns());
	return rc;
}

int coll_engine_round(struct coll_engine *e)
{
	return drain(e, false);
}

int coll_engine_pause_ms(const struct coll_engine *e, int rc)
{
	if (rc || e->asking_ms)
		return rc ? 1 : e->asking_ms;
	/* questions that are open are blocked: their helpers are looked at */
	return e->source && e->source->quiet && !e->asked ? QUIET_MS : ROUND_MS;
}

int coll_engine_await(struct coll_engine *e, unsigned seconds)
{
	uint64_t until_ns = clock_mono_ns() + seconds * SECOND_NS;
	int rc = 0;

	while (rc >= 0 && is_asking(e) && clock_mono_ns() < until_ns) {
		coll_asker_poll(e->collect.asker, ASKING_MS);
		if (e->running)
			rc = drain(e, false);
		else
			coll_collect_settle(&e->collect);
	}
	return rc < 0 ? rc : 0;
}

int coll_engine_stop(struct coll_engine *e)
{
	struct spec_stats *s = &e->collect.stats;
	uint64_t lost, tasks = 0;
	int rc;

	if (!e->running)
		return 0;
	e->running = false;
	e->source->ops->stop(e->source);
	rc = drain(e, true);
	coll_collect_finish(&e->collect);
	/* losses that the kernel counted and could not report in the ring */
	lost = e->source->ops->lost_untold(e->source, &tasks);
	s->value[SPEC_STAT_TAKEN] += lost;
	s->value[SPEC_STAT_LOST_RECORDS] += lost;
	s->value[SPEC_STAT_TASKS_LOST] += tasks;
	return rc < 0 ? rc : 0;
}

static int tell_throttled(struct coll_engine *e, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < e->opt->events.len; i++) {
		if (!e->throttled[i] || e->throttle_told[i])
			continue;
		e->throttle_told[i] = true;
		rc = spec_stats_throttled(e->session.fd, e->plan.sink[i].name, err);
	}
	return rc;
}

/* Reports what the disk refused since.  Returns whether there was anything. */
static bool take_losses(struct coll_engine *e)
{
	struct coll_sink *sink = &e->collect.sink;
	struct spec_stats *now = &e->collect.stats;
	struct coll_sink *stacks = &e->collect.stacks.sink;
	bool any = sink->lost || stacks->lost;

	coll_session_lose(&e->session, now, SPEC_STAT_STORED, SPEC_STAT_LOST_WRITE_BACK,
			  TAKE(sink->lost));
	coll_session_lose(&e->session, now, SPEC_STAT_STACKS, SPEC_STAT_LOST_STACKFILE,
			  TAKE(stacks->lost));
	return any;
}

void coll_engine_checkpoint(struct coll_engine *e)
{
	coll_sink_checkpoint(&e->collect.sink);
	coll_sink_checkpoint(&e->collect.stacks.sink);
}

bool coll_engine_write_back(struct coll_engine *e, uint64_t until_ns)
{
	return coll_sink_write_back(&e->collect.sink, until_ns) ||
	       coll_stack_sink_write_back(&e->collect.stacks, until_ns);
}

void coll_engine_settle(struct coll_engine *e)
{
	coll_engine_checkpoint(e);
	coll_sink_write_soon(&e->collect.sink);
	coll_sink_write_soon(&e->collect.stacks.sink);
	coll_engine_write_back(e, UINT64_MAX);
	take_losses(e);
}

void coll_engine_make_arcs(struct coll_engine *e)
{
	struct coll_sink *sink = &e->collect.stacks.sink;
	struct spec_stats *now = &e->collect.stats;
	struct coll_arcs arcs;
	struct err err = { 0 };
	int rc;

	coll_stack_sink_close(&e->collect.stacks);
	rc = coll_arcs_close(e->session.fd, now, &arcs, &err);
	if (arcs.derived) {
		/* those of earlier runs are among them */
		e->session.before.value[SPEC_STAT_ARCS] = 0;
		e->session.before.value[SPEC_STAT_LOST_CG_FILE] = 0;
		err = arcs.why;
		rc = err.code;
	}
	if (rc && !sink->broken) {
		sink->broken = rc;
		sink->why = err;
	}
}

void coll_engine_tell(struct coll_engine *e, bool closed)
{
	struct err err = { 0 };
	struct spec_stats now;
	int rc;

	take_losses(e);
	rc = tell_throttled(e, &err);
	now = e->collect.stats;
	now.value[SPEC_STAT_TAKEN] += e->collect.deferred.samples;
	if (!rc)
		rc = coll_session_tell(&e->session, &now, closed, &err);
	if (rc && (!e->untold || closed))
		log_err("figures of the session could not be written: %s", err.msg);
	e->untold = rc;
}

void coll_engine_tell_sometimes(struct coll_engine *e, uint64_t now_ns)
{
	uint64_t taken = e->collect.stats.value[SPEC_STAT_TAKEN];

	if (now_ns - e->told_ns < SECOND_NS)
		return;
	if (!take_losses(e) && taken == e->told_taken && !TAKE(e->collect.jit.news))
		return;
	e->told_ns = now_ns;
	e->told_taken = taken;
	coll_engine_tell(e, !e->running);
}

int coll_engine_reconfigure(struct coll_engine *e, struct coll_options *opt,
			    struct err *err)
{
	struct coll_engine fresh = { 0 };
	int rc = coll_engine_plan(&fresh, opt, err);

	if (rc) {
		coll_plan_fini(&fresh.plan);
		free(fresh.throttled);
		free(fresh.throttle_told);
		return rc;
	}
	/* names of events are those of open files: none may be open */
	take_losses(e);
	coll_sink_move(&e->collect.sink, e->session.fd);
	coll_stack_sink_move(&e->collect.stacks, e->session.fd);
	coll_plan_fini(&e->plan);
	free(e->throttled);
	free(e->throttle_told);
	e->opt = opt;
	e->plan = fresh.plan;
	e->throttled = fresh.throttled;
	e->throttle_told = fresh.throttle_told;
	e->collect.sink.events = e->collect.stacks.sink.events = e->plan.sink;
	use_options(e);
	return 0;
}

int coll_engine_describe(struct coll_engine *e, struct err *err)
{
	return describe(e, e->session.fd, err);
}

int coll_engine_rotate(struct coll_engine *e, const char *name,
		       struct coll_session_old *old, struct err *err)
{
	struct spec_stats now;
	int next = -1, rc;

	*old = (struct coll_session_old){ .fd = -1 };
	rc = coll_session_prepare(&e->session, &next, err);
	if (!rc)
		rc = describe(e, next, err);
	if (rc) {
		close_fd(&next);
		return rc;
	}
	coll_jit_fetch(&e->collect.jit);
	coll_engine_await(e, NAMES_S);
	tell_throttled(e, NULL);
	take_losses(e);
	/* whoever looks at the old session then finds the table closed */
	coll_stack_sink_close(&e->collect.stacks);
	/* what still waits is filed and reported in the next session */
	now = e->collect.stats;
	now.value[SPEC_STAT_TAKEN] -= e->collect.waiting.all.samples;
	rc = coll_session_rotate(&e->session, next, &now, name, old, err);
	if (rc)
		return rc;
	for (int i = 0; i < SPEC_NR_STATS; i++)
		e->past.value[i] += now.value[i];
	coll_collect_move(&e->collect, e->session.fd);
	for (size_t i = 0; i < e->opt->events.len; i++)
		e->throttled[i] = e->throttle_told[i] = false;
	e->told_taken = 0;
	e->untold = false;
	return 0;
}
