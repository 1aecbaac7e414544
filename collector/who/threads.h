/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_WHO_THREADS_H
#define COLLECTOR_WHO_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "collector/rec/rec.h"

/*
 * Names of threads, where samples are kept apart by thread.  The first thread of a
 * process is the process itself (collector/who/tasks.h).  A number belongs to one thread
 * at a time, so however many ends are lost, there are no more of them than Linux has
 * numbers.
 */
struct coll_thread {
	uint32_t tgid, tid;
	char comm[COLL_TASK_COMM]; /* "": unknown */
	uint64_t start_ns;         /* CLOCK_MONOTONIC; 0: unknown */
	uint64_t dead_ns;          /* when it ended; 0: it lives */
	struct coll_thread *next_dead;
	bool noted; /* the tasks table has its present name */
};

struct coll_threads {
	bool wanted; /* else there are none */
	struct map_u64 by_tid;
	struct coll_thread *dead, **dead_end; /* in the order of @dead_ns */
};

void coll_threads_init(struct coll_threads *t);
/* Forgets all. */
void coll_threads_reset(struct coll_threads *t);

/* The thread of that process, or NULL. */
struct coll_thread *coll_threads_find(const struct coll_threads *t, uint32_t tgid,
				      uint32_t tid);

/**
 * coll_threads_see - a thread that runs, or is born
 * @same: a thread that is known by these numbers is this one
 * @start_ns: 0: unknown
 * Returns it, without a name if it is new, or NULL if out of memory.
 */
struct coll_thread *coll_threads_see(struct coll_threads *t, uint32_t tgid, uint32_t tid,
				     bool same, uint64_t start_ns);
void coll_threads_name(struct coll_thread *thread, const char *comm);
void coll_threads_exit(struct coll_threads *t, uint32_t tgid, uint32_t tid,
		       uint64_t now_ns);

/* Forgets those that ended before @before_ns. */
void coll_threads_sweep(struct coll_threads *t, uint64_t before_ns);
/* Takes those for dead that the kernel does not know: their ends were lost. */
void coll_threads_bury(struct coll_threads *t, uint64_t now_ns);
/* None is noted in the table of the next session. */
void coll_threads_move(struct coll_threads *t);

#endif
