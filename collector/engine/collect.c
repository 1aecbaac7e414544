/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/engine/collect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "collector/engine/filing.h"
#include "collector/engine/processes.h"
#include "collector/engine/resolve.h"
#include "collector/engine/stacks.h"
#include "collector/engine/unwind.h"
#include "collector/who/procfs.h"
#include "libspec/name/pid.h"

#define BURY_NS (30 * CLOCK_NS_PER_S)

int coll_collect_init(struct coll_collect *c, int session_fd,
		      const struct coll_sink_event *events,
		      const struct coll_kernel_options *kernel, char **wanted,
		      size_t nr_wanted, struct err *err)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	int rc;

	c->take = coll_collect_take;
	rc = coll_images_init(&c->images, session_fd, err);
	if (rc)
		return rc;
	c->images.wanted = wanted;
	c->images.nr_wanted = nr_wanted;
	coll_tasks_init(&c->tasks, &c->images, session_fd);
	coll_tasks_used(&c->tasks);
	coll_jit_init(&c->jit, session_fd);
	rc = coll_sink_init(&c->sink, session_fd, &c->images, events, 0, err);
	if (!rc)
		rc = coll_stack_sink_init(&c->stacks, session_fd, &c->images, events,
					  err);
	if (rc)
		return rc;
	c->nr_cpus = cpus > 0 ? (uint32_t)cpus : 1;
	c->budget.each = (uint64_t)c->nr_cpus * COLL_BUDGET_OF_CPU;
	c->exited = calloc(c->nr_cpus, sizeof(*c->exited));
	if (!c->exited)
		return err_errno(err, -ENOMEM, "collector");
	return coll_kernel_init(&c->kernel, &c->images, kernel, err);
}

int coll_collect_ask_helpers(struct coll_collect *c)
{
	c->asker = coll_asker_new(&coll_asks_questions, NULL);
	c->images.asker = c->tasks.asker = c->jit.asker = c->asker;
	return c->asker ? coll_tables_init(&c->tables, &c->images, &c->jit, NULL)
			: -ENOMEM;
}

void coll_collect_fini(struct coll_collect *c)
{
	/* no answer arrives after that */
	coll_asker_free(c->asker);
	c->asker = NULL;
	coll_tables_fini(&c->tables);
	coll_deferred_fini(&c->deferred);
	coll_waiting_fini(&c->waiting);
	coll_sink_fini(&c->sink);
	coll_stack_sink_fini(&c->stacks);
	coll_kernel_fini(&c->kernel);
	coll_jit_fini(&c->jit);
	coll_tasks_fini(&c->tasks);
	coll_images_fini(&c->images);
	coll_origins_fini(&c->origins);
	map_u64_fini(&c->left_out);
	coll_budget_fini(&c->budget);
	free(c->exited);
	c->exited = NULL;
}

static void count(struct coll_collect *c, enum spec_stat stat)
{
	c->stats.value[stat]++;
}

/* The process of a sample without a number: it has just exited on this CPU. */
static uint32_t who_was(struct coll_collect *c, const struct coll_rec *rec)
{
	if (rec->cpu >= c->nr_cpus)
		return rec->tgid;
	if (rec->tgid == UINT32_MAX)
		return c->exited[rec->cpu] ? c->exited[rec->cpu] : rec->tgid;
	if (rec->tgid != c->exited[rec->cpu])
		c->exited[rec->cpu] = 0;
	return rec->tgid;
}

/*
 * The process of a sample; NULL: not one of ours, or @rc is -ENOMEM.  Of one that nobody
 * told of (it is older than the collector, or the records of its birth were lost), and of
 * one that may have mapped or executed something since records were lost, /proc is asked.
 */
static struct coll_task *task_of(struct coll_collect *c, uint32_t tgid)
{
	struct coll_task *task = coll_tasks_find(&c->tasks, tgid);
	bool nobody = tgid == UINT32_MAX || !tgid;

	if (c->tree) {
		if (!task && c->gaps && !nobody) {
			task = coll_tasks_need(&c->tasks, tgid);
			if (task)
				coll_processes_ask(c, task);
		} else if (task && task->gaps != c->gaps &&
			   (task->in_tree || task->await_exec)) {
			coll_processes_again(c, task);
		}
		return task;
	}
	if (!task)
		task = coll_tasks_need(&c->tasks, tgid);
	if (task && !nobody && !task->known)
		coll_processes_ask(c, task);
	else if (task && task->gaps != c->gaps)
		coll_processes_again(c, task);
	return task;
}

/* Images that were left out are reported at the end; this one not if memory lacks. */
static void leave_out(struct coll_collect *c, const struct coll_context *at)
{
	const struct coll_image *which = coll_image_now(at->app ? at->app : at->image);
	uint64_t key = (uintptr_t)which, nr = 0;

	count(c, SPEC_STAT_IGNORED_IMAGE);
	map_u64_get(&c->left_out, key, &nr);
	if (map_u64_set(&c->left_out, key, nr + 1))
		return;
}

void coll_collect_left_out(const struct coll_collect *c, struct strbuf *out)
{
	enum { MAX_NAMED = 5 };
	struct left {
		const struct coll_image *image;
		uint64_t samples;
	} top[MAX_NAMED + 1];
	uint64_t key, samples;
	size_t pos = 0, nr = 0, all = 0;

	while (map_u64_next(&c->left_out, &pos, &key, &samples)) {
		size_t at = nr;

		for (; at && top[at - 1].samples < samples; at--)
			top[at] = top[at - 1];
		top[at] = (struct left){ (const struct coll_image *)(uintptr_t)key,
					 samples };
		nr += nr < MAX_NAMED;
		all++;
	}
	for (size_t i = 0; i < nr; i++)
		strbuf_printf(out, "%s%s", i ? ", " : "", top[i].image->path);
	if (all > nr)
		strbuf_printf(out, " (and %zu more)", all - nr);
}

/* Is the parent of a process one of ours, or a descendant of one? */
static bool descends(struct coll_collect *c, uint32_t tgid)
{
	enum { MAX_DEPTH = 64 };

	for (int i = 0; tgid && i < MAX_DEPTH; i++) {
		const struct coll_task *task = coll_tasks_find(&c->tasks, tgid);

		if (tgid == c->root || (task && task->in_tree))
			return true;
		/* orphans are adopted by the root, so the way to it has no gaps */
		tgid = task && task->parent ? task->parent : coll_proc_parent(tgid);
	}
	return false;
}

/* The process of a sample whose source tells who runs; NULL: not one of ours. */
static struct coll_task *switch_to(struct coll_collect *c, const struct coll_rec *rec)
{
	const struct coll_who *who = rec->sample.who;
	const struct coll_map *app = coll_origins_find(&c->origins, who->app);
	struct coll_sighting *exe = app ? app->file : NULL;
	struct coll_task *task = coll_tasks_find(&c->tasks, rec->tgid);
	bool told = task && task->told;
	bool executed = told && task->execs != who->execs;

	task = coll_tasks_switch(&c->tasks, rec->tgid, rec->tid, who, exe);
	if (!task || !c->tree || task->in_tree)
		return task;
	if (task->await_exec) {
		/* the command's process is the collector's until it executes it */
		if (exe && (exe->inode != c->own_inode || executed))
			coll_tasks_adopt(task);
	} else if ((!told || executed) && who->start_ns >= c->born_after_ns) {
		/* a parent that ended meanwhile has left it to the root */
		if (descends(c, task->parent) ||
		    descends(c, coll_proc_parent(task->tgid)))
			coll_tasks_adopt(task);
	}
	return task;
}

static struct coll_task *task_of_sample(struct coll_collect *c,
					const struct coll_rec *rec)
{
	const struct coll_who *who = rec->sample.who;
	struct coll_task *task;

	if (!who)
		return task_of(c, rec->tgid);
	task = who->seq == c->who_seq ? coll_tasks_find(&c->tasks, rec->tgid) : NULL;
	if (!task)
		task = switch_to(c, rec);
	c->who_seq = who->seq;
	return task;
}

/* Counts it in its file.  As coll_collect_file(). */
static enum spec_stat store_once(struct coll_collect *c, const struct coll_context *at,
				 uint64_t key_at, const struct coll_stack *stack,
				 const struct coll_count *count)
{
	struct coll_key key;

	return coll_route(c->separate, at, &key)
		       ? coll_collect_file(c, &key, key_at, stack, count)
		       : SPEC_STAT_LOST_NO_APP_USER;
}

/* Counts one sample for each event that it is one of. */
static enum spec_stat store_ext(struct coll_collect *c, const struct coll_rec *rec,
				struct coll_context *at, uint64_t key_at,
				const struct coll_stack *stack)
{
	static const enum spec_stat unless_taken[COLL_NR_EXT_RESULT] = {
		[COLL_EXT_INCOMPLETE] = SPEC_STAT_LOST_EXT,
		[COLL_EXT_INVALID] = SPEC_STAT_LOST_EXT,
		[COLL_EXT_UNASKED] = SPEC_STAT_IGNORED_EXT,
	};
	struct coll_ext_hit hits[COLL_EXT_MAX_EVENTS];
	enum coll_ext_result result = COLL_EXT_UNASKED;
	enum spec_stat what = SPEC_STAT_IGNORED_EXT, now;
	size_t nr = 0;

	if (c->ext)
		result = coll_ext_derive(c->ext, rec->sample.ext, hits, &nr);
	if (result != COLL_EXT_TAKEN)
		return unless_taken[result];
	for (size_t i = 0; i < nr; i++) {
		at->event = c->ext_first + hits[i].event;
		now = store_once(c, at, key_at, stack,
				 &(struct coll_count){ .weight = hits[i].weight,
						       .samples = !i,
						       .hits = 1 });
		/* it is lost if any of its events could not be stored */
		if (!i ||
		    (now != SPEC_STAT_STORED && now != COLL_WAITS && what != COLL_WAITS))
			what = now;
		c->stats.value[SPEC_STAT_EXT_HITS] += now == SPEC_STAT_STORED;
	}
	return what;
}

/* Notes whose sample it is for the tasks table. */
static void note(struct coll_collect *c, const struct coll_rec *rec,
		 struct coll_task *task, const struct coll_context *at)
{
	if (!task->noted)
		coll_tasks_note(&c->tasks, task);
	if (rec->tid != task->tgid)
		coll_tasks_note_thread(&c->tasks, task, rec->tid, at->tgid, at->tid);
}

static void store(struct coll_collect *c, const struct coll_rec *rec,
		  struct coll_task *task, struct coll_context *at, uint64_t key_at)
{
	const struct coll_stack *stack = NULL;
	enum spec_stat what;

	if (c->filter && !coll_route_wanted(c->separate, at)) {
		leave_out(c, at);
		return;
	}
	if (c->callgraph)
		stack = coll_stacks_walk(c, rec, task, at, key_at);
	if (rec->sample.ext)
		what = store_ext(c, rec, at, key_at, stack);
	else if (at->event == UINT32_MAX)
		what = SPEC_STAT_LOST_STREAM;
	else
		what = store_once(c, at, key_at, stack,
				  &(struct coll_count){ .weight = 1, .samples = 1 });
	if (what != COLL_WAITS)
		count(c, what);
	if (what != SPEC_STAT_STORED && what != COLL_WAITS)
		return;
	note(c, rec, task, at);
	if (stack) {
		c->stats.value[SPEC_STAT_LOST_BT_NO_MAPPING] += stack->unknown;
		c->stats.value[SPEC_STAT_BT_NO_CALLER] += !stack->called;
	}
}

/* The place of a sample. */
static struct coll_place place_of(const struct coll_sample *s)
{
	if (s->nr_places)
		return s->places[0];
	return (struct coll_place){ .at = s->ip, .kernel = s->domain == COLL_KERNEL };
}

/* The process and thread of a sample, as far as --separate asks for them. */
static void identify(struct coll_collect *c, const struct coll_rec *rec,
		     struct coll_task *task, struct coll_context *at)
{
	at->tgid = task->tgid;
	at->tid = rec->tid == UINT32_MAX ? task->tgid : rec->tid;
	if (!(c->separate & COLL_SEPARATE_THREAD))
		return;
	at->tgid = coll_tasks_stored(&c->tasks, task);
	if (at->tgid != task->tgid && at->tid != UINT32_MAX)
		at->tid = spec_pid_stored(at->tid, spec_pid_uses(at->tgid));
}

/*
 * Image and key of a sample.  An address in no mapping may be in one that nobody told of,
 * as after mremap(): the process is looked at again; @again: the sample waits for that.
 */
static const struct coll_image *resolve(struct coll_collect *c,
					const struct coll_rec *rec,
					struct coll_task *task, uint64_t *key_at,
					enum spec_stat *why, bool *again)
{
	struct coll_place place = place_of(&rec->sample);
	const struct coll_image *img = coll_resolve(c, task, &place, key_at, why);
	bool missed = !img && *why == SPEC_STAT_LOST_NO_MAPPING && !rec->sample.who;
	uint64_t read_ns = task->read_ns;

	*again = missed && coll_processes_again(c, task);
	/* or it was read here and now */
	if (missed && !*again && task->read_ns != read_ns)
		img = coll_resolve(c, task, &place, key_at, why);
	return img;
}

/* What a sample waits for: /proc is not asked about those whose source tells who runs. */
static struct coll_group *group_of_sample(const struct coll_collect *c,
					  const struct coll_rec *rec)
{
	struct coll_group *group = coll_deferred_find(&c->deferred, rec->tgid);

	return group && rec->sample.who && !group->for_tables ? NULL : group;
}

static int take_sample(struct coll_collect *c, const struct coll_rec *rec)
{
	struct coll_context at = { .event = rec->event, .cpu = rec->cpu };
	struct coll_task *task = task_of_sample(c, rec);
	struct coll_group *group = group_of_sample(c, rec);
	enum spec_stat why;
	uint64_t key_at;
	bool again;

	if (group)
		return coll_processes_hold(c, group, rec);
	if (!task)
		return c->tree ? 0 : -ENOMEM;
	if (c->tree && !task->in_tree)
		return 0;
	count(c, SPEC_STAT_TAKEN);
	if (c->self && task->tgid == c->self) {
		count(c, SPEC_STAT_IGNORED_SELF);
		return 0;
	}
	identify(c, rec, task, &at);
	at.kernel = place_of(&rec->sample).kernel;
	if (rec->sample.domain == COLL_OTHER) {
		count(c, SPEC_STAT_LOST_INVALID_DOMAIN);
		return 0;
	}
	at.app = coll_resolve_app(c, task);
	if (!at.app && task->tgid == UINT32_MAX && (c->separate & COLL_SEPARATE_KERNEL)) {
		count(c, SPEC_STAT_LOST_NO_APP_KERNEL);
		return 0;
	}
	at.image = resolve(c, rec, task, &key_at, &why, &again);
	if (!again && at.image && c->callgraph)
		again = !coll_unwind_sample(c, rec, task);
	if (again) {
		c->stats.value[SPEC_STAT_TAKEN]--;
		group = coll_deferred_find(&c->deferred, rec->tgid);
		return coll_processes_hold(c, group, rec);
	}
	c->stats.value[SPEC_STAT_RESOLVED_LATE] += rec->sample.late;
	if (at.image)
		store(c, rec, task, &at, key_at);
	else
		count(c, why);
	return 0;
}

/* Nothing is kept of processes outside the tree that is profiled. */
static bool outside(struct coll_collect *c, uint32_t tgid)
{
	const struct coll_task *task = c->tree ? coll_tasks_find(&c->tasks, tgid) : NULL;

	return c->tree && (!task || !(task->in_tree || task->await_exec));
}

static int take_mmap(struct coll_collect *c, const struct coll_rec *rec)
{
	return rec->mmap.kernel || outside(c, rec->tgid)
		       ? 0
		       : coll_tasks_mmap(&c->tasks, rec->tgid, &rec->mmap);
}

static int take_comm(struct coll_collect *c, const struct coll_rec *rec)
{
	if (rec->comm.exec)
		coll_jit_end(&c->jit, rec->tgid);
	return outside(c, rec->tgid) ? 0 : coll_tasks_comm(&c->tasks, rec);
}

static int take_fork(struct coll_collect *c, const struct coll_rec *rec)
{
	if (!outside(c, rec->parent.tgid))
		return coll_tasks_fork(&c->tasks, rec);
	/* the number of one of ours may belong to another process now */
	if (rec->tgid != rec->parent.tgid)
		coll_tasks_forget(&c->tasks, rec->tgid);
	return 0;
}

static int take_exit(struct coll_collect *c, const struct coll_rec *rec)
{
	coll_tasks_exit(&c->tasks, rec);
	/* later samples of other threads have it looked at again */
	if (rec->tid == rec->tgid)
		coll_jit_end(&c->jit, rec->tgid);
	return 0;
}

static int take_lost(struct coll_collect *c, const struct coll_rec *rec)
{
	c->gaps++;
	if (rec->why == SPEC_STAT_TASKS_LOST) {
		c->stats.value[rec->why] += rec->lost;
		return 0;
	}
	c->stats.value[SPEC_STAT_TAKEN] += rec->lost;
	c->stats.value[rec->why ? rec->why : SPEC_STAT_LOST_RECORDS] += rec->lost;
	return 0;
}

static int take_figure(struct coll_collect *c, const struct coll_rec *rec)
{
	c->stats.value[rec->why] += rec->figure;
	return 0;
}

/* Handles that stand for something else now were others' in what waits for tables. */
static int take_origin(struct coll_collect *c, const struct coll_rec *rec)
{
	if (coll_origins_forgets(&c->origins, rec))
		coll_unwind_hurry(c);
	return coll_origins_add(&c->origins, &c->images, rec);
}

static int take_module(struct coll_collect *c, const struct coll_rec *rec)
{
	return coll_kernel_module(&c->kernel, rec->module);
}

static int take_throttle(struct coll_collect *c, const struct coll_rec *rec)
{
	count(c, SPEC_STAT_THROTTLE_EVENTS);
	if (c->throttled)
		c->throttled[rec->event] = true;
	return 0;
}

static void keep(const struct coll_image *img)
{
	/* of the collector's own table: only names of files see it as constant */
	if (img)
		coll_images_keep_image((struct coll_image *)(uintptr_t)img);
}

static void keep_waiting(struct coll_collect *c)
{
	vec_for(&c->waiting.rows, row) {
		keep(row->key.app);
		keep(row->key.image);
	}
	vec_for(&c->waiting.frames, f)
		keep(f->frame.image);
}

static void sweep(struct coll_collect *c, bool images)
{
	coll_images_sweep_begin(&c->images);
	coll_tasks_keep(&c->tasks, images);
	coll_origins_keep(&c->origins, images);
	if (images) {
		coll_kernel_keep(&c->kernel);
		keep_waiting(c);
	}
	coll_images_sweep_end(&c->images, images);
}

static void write_notes(struct coll_collect *c, bool all)
{
	struct err err = { 0 };

	if (coll_tasks_write_notes(&c->tasks, all, &err) && !c->sink.broken) {
		c->sink.broken = err.code;
		c->sink.why = err;
	}
}

size_t coll_collect_bytes(const struct coll_collect *c)
{
	return c->sink.bytes + coll_stack_sink_bytes(&c->stacks);
}

const struct coll_sink *coll_collect_broken(const struct coll_collect *c)
{
	return c->sink.broken ? &c->sink : c->stacks.sink.broken ? &c->stacks.sink : NULL;
}

void coll_collect_finish(struct coll_collect *c)
{
	/* records that waited for an answer may be of code made at run time */
	coll_asker_finish(c->asker);
	coll_unwind_finish(c);
	coll_asker_finish(c->asker);
	coll_jit_fetch(&c->jit);
	coll_asker_finish(c->asker);
	coll_jit_tell(&c->jit);
	coll_collect_file_waiting(c);
	write_notes(c, true);
}

void coll_collect_settle(struct coll_collect *c)
{
	coll_asker_poll(c->asker, 0);
	coll_unwind_settle(c);
	coll_collect_file_waiting(c);
	write_notes(c, false);
	if (coll_images_sweep_due(&c->images))
		sweep(c, false);
	/* the lost records may have told the end of processes */
	if (c->gaps == c->buried_gaps || c->last_ns - c->buried_ns < BURY_NS)
		return;
	c->buried_gaps = c->gaps;
	c->buried_ns = c->last_ns;
	coll_tasks_bury(&c->tasks, c->last_ns);
}

void coll_collect_move(struct coll_collect *c, int session_fd)
{
	write_notes(c, true);
	coll_sink_move(&c->sink, session_fd);
	coll_stack_sink_move(&c->stacks, session_fd);
	map_u64_fini(&c->left_out);
	coll_images_move(&c->images, session_fd);
	coll_jit_move(&c->jit, session_fd);
	coll_tasks_move(&c->tasks, session_fd);
	sweep(c, true);
	c->stats = (struct spec_stats){ 0 };
	c->stats.value[SPEC_STAT_TAKEN] = c->waiting.all.samples;
}

void coll_collect_forget(struct coll_collect *c)
{
	coll_tasks_reset(&c->tasks);
	memset(c->exited, 0, c->nr_cpus * sizeof(*c->exited));
}

/* A sample that lacks its process gets it, if that is known. */
static const struct coll_rec *say_who(struct coll_collect *c, const struct coll_rec *rec,
				      struct coll_rec *known)
{
	uint32_t tgid;

	if (rec->kind == COLL_REC_EXIT && rec->cpu < c->nr_cpus)
		c->exited[rec->cpu] = rec->tgid;
	if (rec->kind != COLL_REC_SAMPLE || rec->sample.who)
		return rec;
	tgid = who_was(c, rec);
	if (tgid == rec->tgid)
		return rec;
	*known = *rec;
	known->tgid = tgid;
	return known;
}

/* Passes over what a task did.  /proc is asked when it is sampled. */
static int pass_over(struct coll_collect *c, const struct coll_rec *rec)
{
	struct coll_task *task;

	count(c, SPEC_STAT_TASKS_PASSED);
	if (rec->kind == COLL_REC_FORK && rec->tgid == rec->parent.tgid)
		return 0;
	/* another process, or another program */
	if (rec->kind == COLL_REC_FORK ||
	    (rec->kind == COLL_REC_COMM && rec->comm.exec)) {
		coll_tasks_forget(&c->tasks, rec->tgid);
		return 0;
	}
	task = coll_tasks_find(&c->tasks, rec->tgid);
	if (task)
		task->gaps = c->gaps - 1;
	return 0;
}

/* Has the user whose task it was done too much already?  A command and what it starts
 * are the collector's own user's. */
static bool is_too_much(struct coll_collect *c, const struct coll_rec *rec)
{
	uint32_t tgid = rec->kind == COLL_REC_FORK ? rec->parent.tgid : rec->tgid;

	if (c->tree || c->tasks.saved ||
	    (rec->kind != COLL_REC_FORK && rec->kind != COLL_REC_COMM &&
	     (rec->kind != COLL_REC_MMAP || rec->mmap.kernel)))
		return false;
	return coll_budget_spent(&c->budget, tgid, rec->time_ns);
}

/* The process whose answer a record waits for; NULL: none. */
static struct coll_group *group_of(struct coll_collect *c, const struct coll_rec *rec)
{
	struct coll_group *group = NULL;

	switch (rec->kind) {
	case COLL_REC_FORK:
		group = coll_deferred_find(&c->deferred, rec->parent.tgid);
		break;
	case COLL_REC_SAMPLE:
		return group_of_sample(c, rec);
	case COLL_REC_MMAP:
	case COLL_REC_COMM:
	case COLL_REC_EXIT:
		break;
	default:
		return NULL;
	}
	return group ? group : coll_deferred_find(&c->deferred, rec->tgid);
}

int coll_collect_take(void *ctx, const struct coll_rec *rec)
{
	static int (*const take[COLL_NR_REC])(struct coll_collect * c,
					      const struct coll_rec *rec) = {
		[COLL_REC_SAMPLE] = take_sample,     [COLL_REC_MMAP] = take_mmap,
		[COLL_REC_COMM] = take_comm,         [COLL_REC_FORK] = take_fork,
		[COLL_REC_EXIT] = take_exit,         [COLL_REC_LOST] = take_lost,
		[COLL_REC_THROTTLE] = take_throttle, [COLL_REC_ORIGIN] = take_origin,
		[COLL_REC_MODULE] = take_module,     [COLL_REC_FIGURE] = take_figure,
	};
	struct coll_collect *c = ctx;
	struct coll_rec known;
	struct coll_group *group;

	if (rec->time_ns > c->last_ns)
		c->last_ns = rec->time_ns;
	if (rec->kind >= COLL_NR_REC || !take[rec->kind])
		return 0;
	if (!c->replaying) {
		if (is_too_much(c, rec))
			return pass_over(c, rec);
		rec = say_who(c, rec, &known);
	}
	group = c->deferred.by_tgid.used ? group_of(c, rec) : NULL;
	return group ? coll_processes_hold(c, group, rec) : take[rec->kind](c, rec);
}
