/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_MOUNT_WORKER_H
#define OPFS_MOUNT_WORKER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "base/err.h"

/*
 * Threads for work that may take long, and the requests that wait for it.  A request that
 * loses patience leaves; work that nobody waits for any more is told to stop.
 *
 * Requests for the same work share a job.  base/cache would make their result once, too,
 * but each would occupy a thread while it waits there: a few readers of one slow file
 * would block the pool for all others.
 *
 * Where several users ask, work waits while its user has his share of the threads, and
 * that of others overtakes it.
 *
 * Lock order: callers may hold their own lock while they call worker_leave(), which
 * takes the pool's; the pool calls job_ops with no lock held.
 */
struct worker_pool;
struct job;
struct waiter;

struct job_ops {
	/* In a worker thread; @cancel is set once nobody waits any more.  0 or -errno. */
	int (*run)(void *work, const atomic_bool *cancel);
	/* Answers one that still waits, in a worker thread, after run() gave @rc. */
	void (*reply)(void *work, int rc, struct waiter *w);
	void (*free)(void *work);
};

enum waiter_state {
	WAITER_NEW,     /* not handed in yet */
	WAITER_WAITING, /* belongs to a job */
	WAITER_LEFT,    /* by worker_leave() */
	WAITER_SERVED,  /* ops->reply() is called, or was */
};

/* Embedded in what the caller remembers of a request; starts zeroed. */
struct waiter {
	enum waiter_state state; /* guarded by the pool's lock, like the rest */
	struct job *job;
	LIST_ENTRY(waiter) link;
};

/* @fair: several users may ask, and each has a share of the threads (base/share.h). */
int worker_pool_new(unsigned nr_threads, bool fair, struct worker_pool **out,
		    struct err *err);
/*
 * Cancels all work, answers all waiters with -EINTR, ends the threads.  Afterwards only
 * worker_leave() and worker_pool_free() may be called.
 */
void worker_pool_stop(struct worker_pool *p);
void worker_pool_free(struct worker_pool *p);

/* What identifies work. */
struct job_key {
	uid_t uid; /* whose share of the threads it takes */
	const void *id;
	size_t len;
};

/**
 * worker_ask - submits work
 * @work: owned by the pool from now on, also on failure; freed through @ops
 * @key: a job of the same key that is queued or running answers @w too, and @work is
 *	dropped; the same @id of two users must not occur; copied
 * @w: must stay until ops->reply() is called for it or worker_leave() returns true
 * Returns 0, -EINTR if @w has left already, -ENOMEM, -ESHUTDOWN: then @w is still the
 * caller's and will not be answered.
 */
int worker_ask(struct worker_pool *p, const struct job_ops *ops, void *work,
	       const struct job_key *key, struct waiter *w);

/**
 * worker_leave - a waiter gives up
 * Returns true if it was waiting: it is the caller's again, to answer and to free.
 * False: it was not submitted yet (worker_ask() will refuse it) or is being answered.
 */
bool worker_leave(struct worker_pool *p, struct waiter *w);

/* Jobs that are running or queued. */
size_t worker_pool_busy(struct worker_pool *p);

#endif
