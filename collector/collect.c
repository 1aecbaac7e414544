/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/collect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/chain.h"
#include "collector/procfs.h"
#include "collector/resolve.h"
#include "libspec/pid.h"

#define LOOK_AGAIN_NS 1000000000ULL
#define BURY_NS (30 * LOOK_AGAIN_NS)

int coll_collect_init(struct coll_collect *c, int session_fd,
		      const struct coll_sink_event *events,
		      const struct coll_kernel_options *kernel, char **wanted,
		      size_t nr_wanted, struct err *err)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	int rc;

	rc = coll_images_init(&c->images, session_fd, err);
	if (rc)
		return rc;
	c->images.wanted = wanted;
	c->images.nr_wanted = nr_wanted;
	coll_tasks_init(&c->tasks, &c->images, session_fd);
	coll_tasks_used(&c->tasks);
	rc = coll_sink_init(&c->sink, session_fd, &c->images, events, 0, err);
	if (rc)
		return rc;
	c->nr_cpus = cpus > 0 ? (uint32_t)cpus : 1;
	c->exited = calloc(c->nr_cpus, sizeof(*c->exited));
	if (!c->exited)
		return err_errno(err, -ENOMEM, "collector");
	return coll_kernel_init(&c->kernel, &c->images, kernel, err);
}

void coll_collect_fini(struct coll_collect *c)
{
	coll_sink_fini(&c->sink);
	coll_kernel_fini(&c->kernel);
	coll_tasks_fini(&c->tasks);
	coll_images_fini(&c->images);
	coll_origins_fini(&c->origins);
	map_u64_fini(&c->left_out);
	free(c->exited);
	c->exited = NULL;
}

static void count(struct coll_collect *c, enum spec_stat stat)
{
	c->stats.value[stat]++;
}

/* Who a sample without a process number was: it has just exited on this CPU. */
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
 * A process nobody told of: it is older than the collector, or the records of its birth
 * were lost.  It is looked up once; NULL only if out of memory.
 */
static struct coll_task *discover(struct coll_collect *c, uint32_t tgid)
{
	struct coll_task *task, *parent;
	int rc = coll_proc_read(&c->tasks, tgid, NULL);

	task = coll_tasks_need(&c->tasks, tgid);
	if (!task)
		return NULL;
	task->gone = rc == -ESRCH;
	task->gaps = c->gaps;
	task->read_ns = c->last_ns;
	task->known = true;
	parent = c->tree && task->parent ? coll_tasks_find(&c->tasks, task->parent) : NULL;
	if (parent && parent->in_tree)
		coll_tasks_adopt(task);
	return task;
}

/*
 * Records were lost since the process was known for sure: mappings, or an exec, may be
 * among them.  It is looked at again, once a second at most.
 */
static void look_again(struct coll_collect *c, struct coll_task *task)
{
	if (task->dead_ns || task->gone || c->last_ns - task->read_ns < LOOK_AGAIN_NS)
		return;
	task->gaps = c->gaps;
	task->read_ns = c->last_ns;
	if (!coll_proc_read(&c->tasks, task->tgid, NULL) && task->await_exec)
		coll_tasks_adopt(task);
}

/* The process of a sample; NULL: not one of ours. */
static struct coll_task *task_of(struct coll_collect *c, uint32_t tgid)
{
	struct coll_task *task = coll_tasks_find(&c->tasks, tgid);

	if (task && task->gaps != c->gaps && (task->in_tree || task->await_exec || !c->tree))
		look_again(c, task);
	if (c->tree) {
		if (!task && c->gaps && tgid != UINT32_MAX)
			task = discover(c, tgid);
		return task && task->in_tree ? task : NULL;
	}
	if (!task || !task->known)
		task = tgid == UINT32_MAX || !tgid ? coll_tasks_need(&c->tasks, tgid) :
						     discover(c, tgid);
	return task;
}

/* Which images there were instead is told at the end; without memory, not of this one. */
static void leave_out(struct coll_collect *c, const struct coll_context *at)
{
	uint64_t key = (uintptr_t)(at->app ? at->app : at->image), nr = 0;

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

/* Whether a process that started one is ours, or descends from one that is. */
static bool descends(struct coll_collect *c, uint32_t tgid)
{
	enum { MAX_DEPTH = 64 };

	for (int i = 0; tgid && i < MAX_DEPTH; i++) {
		const struct coll_task *task = coll_tasks_find(&c->tasks, tgid);

		if (tgid == c->root || (task && task->in_tree))
			return true;
		/* orphans come to the root, so nobody is passed over on the way to it */
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

static struct coll_task *task_of_sample(struct coll_collect *c, const struct coll_rec *rec)
{
	const struct coll_who *who = rec->sample.who;
	struct coll_task *task;

	if (!who)
		return task_of(c, who_was(c, rec));
	task = who->seq == c->who_seq ? coll_tasks_find(&c->tasks, rec->tgid) : NULL;
	if (!task)
		task = switch_to(c, rec);
	c->who_seq = who->seq;
	return task && (task->in_tree || !c->tree) ? task : NULL;
}

/* Counts it in its file.  Returns STORED, or why not. */
static enum spec_stat count_in_file(struct coll_collect *c, const struct coll_context *at,
				    uint64_t key_at, uint32_t weight, uint32_t counts)
{
	struct coll_key key;

	if (!coll_route(c->separate, at, &key))
		return SPEC_STAT_LOST_NO_APP_USER;
	if (coll_sink_add(&c->sink, &key, key_at, weight, counts))
		return SPEC_STAT_LOST_SAMPLEFILE;
	return SPEC_STAT_STORED;
}

/* As count_in_file(), with the calls that led there. */
static enum spec_stat store_once(struct coll_collect *c, const struct coll_rec *rec,
				 struct coll_task *task, const struct coll_context *at,
				 uint64_t key_at, uint32_t weight, uint32_t counts)
{
	enum spec_stat what = count_in_file(c, at, key_at, weight, counts);

	if (what == SPEC_STAT_STORED && c->callgraph)
		coll_chain_count(c, rec, task, at, key_at, weight);
	return what;
}

/* One sample, for each of the events that are true of it. */
static enum spec_stat store_ext(struct coll_collect *c, const struct coll_rec *rec,
				struct coll_task *task, struct coll_context *at,
				uint64_t key_at)
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
		now = store_once(c, rec, task, at, key_at, hits[i].weight, !i);
		/* it is lost if any of its events could not be stored */
		if (!i || now != SPEC_STAT_STORED)
			what = now;
		c->stats.value[SPEC_STAT_EXT_HITS] += now == SPEC_STAT_STORED;
	}
	return what;
}

static void store(struct coll_collect *c, const struct coll_rec *rec,
		  struct coll_task *task, struct coll_context *at, uint64_t key_at)
{
	enum spec_stat what;

	if (c->filter && !coll_route_wanted(c->separate, at)) {
		leave_out(c, at);
		return;
	}
	if (rec->sample.ext)
		what = store_ext(c, rec, task, at, key_at);
	else if (at->event == UINT32_MAX)
		what = SPEC_STAT_LOST_STREAM;
	else
		what = store_once(c, rec, task, at, key_at, 1, 1);
	count(c, what);
	if (what == SPEC_STAT_STORED && !task->noted)
		coll_tasks_note(&c->tasks, task);
}

/* Where it was taken. */
static struct coll_place place_of(const struct coll_sample *s)
{
	if (s->nr_places)
		return s->places[0];
	return (struct coll_place){ .at = s->ip, .kernel = s->domain == COLL_KERNEL };
}

/* Whose sample it is, as far as that is kept apart. */
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

static int take_sample(struct coll_collect *c, const struct coll_rec *rec)
{
	struct coll_context at = { .event = rec->event, .cpu = rec->cpu };
	struct coll_place place = place_of(&rec->sample);
	struct coll_task *task = task_of_sample(c, rec);
	enum spec_stat why;
	uint64_t key_at;

	if (!task)
		return c->tree ? 0 : -ENOMEM;
	count(c, SPEC_STAT_TAKEN);
	if (c->self && task->tgid == c->self) {
		count(c, SPEC_STAT_IGNORED_SELF);
		return 0;
	}
	identify(c, rec, task, &at);
	at.kernel = place.kernel;
	if (rec->sample.domain == COLL_OTHER) {
		count(c, SPEC_STAT_LOST_INVALID_DOMAIN);
		return 0;
	}
	c->stats.value[SPEC_STAT_RESOLVED_LATE] += rec->sample.late;
	at.app = coll_resolve_app(c, task);
	if (!at.app && task->tgid == UINT32_MAX && (c->separate & COLL_SEPARATE_KERNEL)) {
		count(c, SPEC_STAT_LOST_NO_APP_KERNEL);
		return 0;
	}
	at.image = coll_resolve(c, task, &place, &key_at, &why);
	if (at.image)
		store(c, rec, task, &at, key_at);
	else
		count(c, why);
	return 0;
}

/* Processes outside the tree are of no interest: nothing is kept of them. */
static bool outside(struct coll_collect *c, uint32_t tgid)
{
	const struct coll_task *task = c->tree ? coll_tasks_find(&c->tasks, tgid) : NULL;

	return c->tree && (!task || !(task->in_tree || task->await_exec));
}

static int take_mmap(struct coll_collect *c, const struct coll_rec *rec)
{
	return rec->mmap.kernel || outside(c, rec->tgid) ?
		       0 :
		       coll_tasks_mmap(&c->tasks, rec->tgid, &rec->mmap);
}

static int take_comm(struct coll_collect *c, const struct coll_rec *rec)
{
	return outside(c, rec->tgid) ? 0 : coll_tasks_comm(&c->tasks, rec);
}

static int take_fork(struct coll_collect *c, const struct coll_rec *rec)
{
	if (!outside(c, rec->parent.tgid))
		return coll_tasks_fork(&c->tasks, rec);
	/* the number of one of ours may be somebody else's now */
	if (rec->tgid != rec->parent.tgid)
		coll_tasks_forget(&c->tasks, rec->tgid);
	return 0;
}

static int take_exit(struct coll_collect *c, const struct coll_rec *rec)
{
	if (rec->cpu < c->nr_cpus)
		c->exited[rec->cpu] = rec->tgid;
	coll_tasks_exit(&c->tasks, rec);
	return 0;
}

static int take_lost(struct coll_collect *c, const struct coll_rec *rec)
{
	c->gaps++;
	c->stats.value[SPEC_STAT_TAKEN] += rec->lost;
	c->stats.value[rec->why ? rec->why : SPEC_STAT_LOST_RECORDS] += rec->lost;
	return 0;
}

static int take_figure(struct coll_collect *c, const struct coll_rec *rec)
{
	c->stats.value[rec->why] += rec->figure;
	return 0;
}

static int take_origin(struct coll_collect *c, const struct coll_rec *rec)
{
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

static void sweep(struct coll_collect *c, bool images)
{
	coll_images_sweep_begin(&c->images);
	coll_tasks_keep(&c->tasks, images);
	coll_origins_keep(&c->origins, images);
	if (images)
		coll_kernel_keep(&c->kernel);
	coll_images_sweep_end(&c->images, images);
}

void coll_collect_settle(struct coll_collect *c)
{
	struct err err = { 0 };

	if (coll_tasks_write_notes(&c->tasks, &err) && !c->sink.broken) {
		c->sink.broken = err.code;
		c->sink.why = err;
	}
	if (coll_images_sweep_due(&c->images))
		sweep(c, false);
	/* ends of processes may be among the records that were lost */
	if (c->gaps == c->buried_gaps || c->last_ns - c->buried_ns < BURY_NS)
		return;
	c->buried_gaps = c->gaps;
	c->buried_ns = c->last_ns;
	coll_tasks_bury(&c->tasks, c->last_ns);
}

void coll_collect_move(struct coll_collect *c, int session_fd)
{
	coll_sink_move(&c->sink, session_fd);
	map_u64_fini(&c->left_out);
	coll_images_move(&c->images, session_fd);
	coll_tasks_move(&c->tasks, session_fd);
	sweep(c, true);
	c->stats = (struct spec_stats){ 0 };
}

void coll_collect_forget(struct coll_collect *c)
{
	coll_tasks_reset(&c->tasks);
	memset(c->exited, 0, c->nr_cpus * sizeof(*c->exited));
}

int coll_collect_take(void *ctx, const struct coll_rec *rec)
{
	static int (*const take[COLL_NR_REC])(struct coll_collect *c,
					      const struct coll_rec *rec) = {
		[COLL_REC_SAMPLE] = take_sample, [COLL_REC_MMAP] = take_mmap,
		[COLL_REC_COMM] = take_comm,	 [COLL_REC_FORK] = take_fork,
		[COLL_REC_EXIT] = take_exit,	 [COLL_REC_LOST] = take_lost,
		[COLL_REC_THROTTLE] = take_throttle,
		[COLL_REC_ORIGIN] = take_origin, [COLL_REC_MODULE] = take_module,
		[COLL_REC_FIGURE] = take_figure,
	};
	struct coll_collect *c = ctx;

	if (rec->time_ns > c->last_ns)
		c->last_ns = rec->time_ns;
	return rec->kind < COLL_NR_REC && take[rec->kind] ? take[rec->kind](c, rec) : 0;
}
