/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/who/threads.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

void coll_threads_init(struct coll_threads *t)
{
	*t = (struct coll_threads){ 0 };
	t->dead_end = &t->dead;
}

static struct coll_thread *next_of(const struct coll_threads *t, size_t *pos)
{
	uint64_t tid, value;

	return map_u64_next(&t->by_tid, pos, &tid, &value)
		       ? (struct coll_thread *)(uintptr_t)value
		       : NULL;
}

void coll_threads_reset(struct coll_threads *t)
{
	struct coll_thread *thread;
	size_t pos = 0;

	while ((thread = next_of(t, &pos)))
		free(thread);
	map_u64_fini(&t->by_tid);
	t->dead = NULL;
	t->dead_end = &t->dead;
}

/* Whoever has the number, or NULL. */
static struct coll_thread *holder(const struct coll_threads *t, uint32_t tid)
{
	uint64_t value;

	return map_u64_get(&t->by_tid, tid, &value)
		       ? (struct coll_thread *)(uintptr_t)value
		       : NULL;
}

struct coll_thread *coll_threads_find(const struct coll_threads *t, uint32_t tgid,
				      uint32_t tid)
{
	struct coll_thread *thread = t->wanted ? holder(t, tid) : NULL;

	return thread && thread->tgid == tgid ? thread : NULL;
}

static void unlink_dead(struct coll_threads *t, const struct coll_thread *thread)
{
	struct coll_thread **at = &t->dead;

	while (*at && *at != thread)
		at = &(*at)->next_dead;
	if (!*at)
		return;
	*at = thread->next_dead;
	if (t->dead_end == &thread->next_dead)
		t->dead_end = at;
}

struct coll_thread *coll_threads_see(struct coll_threads *t, uint32_t tgid, uint32_t tid,
				     bool same, uint64_t start_ns)
{
	struct coll_thread *thread = holder(t, tid);

	if (thread && thread->tgid == tgid && same)
		return thread;
	if (thread && thread->dead_ns)
		unlink_dead(t, thread);
	if (!thread) {
		thread = malloc(sizeof(*thread));
		if (!thread || map_u64_set(&t->by_tid, tid, (uintptr_t)thread)) {
			free(thread);
			return NULL;
		}
	}
	*thread = (struct coll_thread){ .tgid = tgid, .tid = tid, .start_ns = start_ns };
	return thread;
}

void coll_threads_name(struct coll_thread *thread, const char *comm)
{
	if (!strncmp(thread->comm, comm, sizeof(thread->comm) - 1))
		return;
	strncpy(thread->comm, comm, sizeof(thread->comm) - 1);
	thread->noted = false;
}

static void take_for_dead(struct coll_threads *t, struct coll_thread *thread,
			  uint64_t now_ns)
{
	thread->dead_ns = now_ns ? now_ns : 1;
	thread->next_dead = NULL;
	*t->dead_end = thread;
	t->dead_end = &thread->next_dead;
}

void coll_threads_exit(struct coll_threads *t, uint32_t tgid, uint32_t tid,
		       uint64_t now_ns)
{
	struct coll_thread *thread = coll_threads_find(t, tgid, tid);

	if (thread && !thread->dead_ns)
		take_for_dead(t, thread, now_ns);
}

void coll_threads_sweep(struct coll_threads *t, uint64_t before_ns)
{
	while (t->dead && t->dead->dead_ns < before_ns) {
		struct coll_thread *thread = t->dead;

		unlink_dead(t, thread);
		map_u64_del(&t->by_tid, thread->tid);
		free(thread);
	}
}

void coll_threads_bury(struct coll_threads *t, uint64_t now_ns)
{
	struct coll_thread *thread;
	size_t pos = 0;

	while ((thread = next_of(t, &pos)))
		if (!thread->dead_ns &&
		    syscall(SYS_tgkill, thread->tgid, thread->tid, 0) && errno == ESRCH)
			take_for_dead(t, thread, now_ns);
}

void coll_threads_move(struct coll_threads *t)
{
	struct coll_thread *thread;
	size_t pos = 0;

	while ((thread = next_of(t, &pos)))
		thread->noted = false;
}
