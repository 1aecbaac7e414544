/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/engine/processes.h"

#include <errno.h>

#include "base/clock.h"
#include "collector/who/asker.h"
#include "collector/who/procfs.h"

#define AGAIN_NS CLOCK_NS_PER_S

static void release(struct coll_collect *c, struct coll_group *g)
{
	struct coll_held *h = coll_deferred_end(&c->deferred, g);

	c->replaying++;
	for (; h; h = coll_held_next(h))
		c->take(c, coll_held_rec(h));
	c->replaying--;
}

/* It may be a child of one of ours, or have become the command. */
static void find_in_tree(struct coll_collect *c, struct coll_task *task)
{
	const struct coll_task *parent =
		task->parent ? coll_tasks_find(&c->tasks, task->parent) : NULL;

	if (c->tree && (task->await_exec || (parent && parent->in_tree)))
		coll_tasks_adopt(task);
}

/* Whatever the answer was, nothing more will be known of it. */
static void set_known(struct coll_task *task, int rc, bool changed)
{
	task->asked = false;
	if (!task->known)
		task->gone = rc == -ESRCH || changed;
	task->known = true;
}

static void answered(void *ctx, uint64_t tgid, int rc, char *answer, size_t len)
{
	struct coll_collect *c = ctx;
	struct coll_task *task = coll_tasks_find(&c->tasks, (uint32_t)tgid);
	struct coll_group *g = coll_deferred_find(&c->deferred, (uint32_t)tgid);
	bool own = g && g->tgid == tgid && !g->for_tables, changed = own && g->changed;
	struct coll_proc proc;

	if (!rc)
		rc = coll_proc_take(answer, len, &proc);
	if (task && !rc && !changed)
		rc = coll_tasks_learn(&c->tasks, task, &proc);
	if (task && !rc)
		find_in_tree(c, task);
	if (task)
		set_known(task, rc, changed);
	c->known_rc = rc;
	if (own)
		release(c, g);
}

bool coll_processes_ask(struct coll_collect *c, struct coll_task *task)
{
	const struct coll_question q = { .kind = c->tasks.threads.wanted
							 ? COLL_ASK_THREADS
							 : COLL_ASK_PROCESS,
					 .lane = coll_lane_process(task->tgid),
					 .data = &task->tgid,
					 .len = sizeof(task->tgid),
					 .answered = answered,
					 .ctx = c,
					 .arg = task->tgid };
	uint32_t tgid = task->tgid;
	const struct coll_group *g =
		c->asker ? coll_deferred_find(&c->deferred, tgid) : NULL;

	/* then when these records are taken */
	if (g && g->for_tables)
		return true;
	task->gaps = c->gaps;
	task->read_ns = c->last_ns;
	if (g)
		return true;
	task->asked = true;
	if ((c->asker && !coll_deferred_begin(&c->deferred, tgid)) ||
	    coll_asker_ask(c->asker, &q))
		answered(c, tgid, -ENOMEM, NULL, 0);
	return coll_deferred_find(&c->deferred, tgid);
}

bool coll_processes_again(struct coll_collect *c, struct coll_task *task)
{
	if (c->replaying || task->gone || task->told || c->tasks.saved || !task->tgid ||
	    task->tgid > INT32_MAX ||
	    (task->read_ns && c->last_ns - task->read_ns < AGAIN_NS))
		return false;
	return coll_processes_ask(c, task);
}

static int ask_about(void *ctx, uint32_t tgid)
{
	struct coll_collect *c = ctx;
	struct coll_task *task = coll_tasks_need(&c->tasks, tgid);

	if (!task)
		return -ENOMEM;
	coll_processes_ask(c, task);
	return 0;
}

int coll_processes_all(struct coll_collect *c, struct err *err)
{
	int rc = coll_proc_each(ask_about, c);

	return rc ? err_errno(err, rc, "processes") : 0;
}

int coll_processes_now(struct coll_collect *c, uint32_t tgid, struct err *err)
{
	int rc = ask_about(c, tgid);

	if (!rc) {
		coll_asker_finish(c->asker);
		rc = c->known_rc;
	}
	if (rc == -ETIMEDOUT)
		return err_set(err, rc,
			       "/proc/%u does not answer: the process waits for a file "
			       "system that does not answer either",
			       tgid);
	return rc ? err_errno(err, rc, "process %u", tgid) : 0;
}

bool coll_processes_wait_for_tables(struct coll_collect *c, const struct coll_task *task)
{
	struct coll_group *g = coll_deferred_find(&c->deferred, task->tgid);

	/* behind records that wait for /proc it is looked at again */
	if (g)
		return true;
	g = coll_deferred_begin(&c->deferred, task->tgid);
	if (g)
		g->for_tables = true;
	return g;
}

void coll_processes_release(struct coll_collect *c, uint32_t tgid)
{
	struct coll_group *g = coll_deferred_find(&c->deferred, tgid);

	if (g)
		release(c, g);
}

int coll_processes_hold(struct coll_collect *c, struct coll_group *group,
			const struct coll_rec *rec)
{
	struct coll_task *task;
	int rc;

	if (!coll_deferred_add(&c->deferred, group, rec))
		return 0;
	task = coll_tasks_find(&c->tasks, group->tgid);
	if (task && !group->for_tables)
		set_known(task, -ENOMEM, false);
	/* neither these records nor this one wait again: others may have all the room */
	c->hurry++;
	release(c, group);
	rc = c->take(c, rec);
	c->hurry--;
	return rc;
}
