/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_WORKER_H
#define OPFS_WORKER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/*
 * Threads for work that may take long, and those who wait for it.  Equal work asked for
 * twice at the same time is done once.  Who loses patience leaves; work that nobody
 * waits for any more is told to stop.
 *
 * Lock order: callers may hold their own lock while they call worker_leave(), which
 * takes the pool's; the pool calls job_ops with no lock held.
 */
struct worker_pool;
struct job;
struct waiter;

struct job_ops {
	/* In a worker thread; @cancel is set when nobody waits any more.  0 or -errno. */
	int (*run)(void *work, const atomic_bool *cancel);
	/* Answers one that still waits, in a worker thread, after run() gave @rc. */
	void (*reply)(void *work, int rc, struct waiter *w);
	void (*free)(void *work);
};

enum waiter_state {
	WAITER_NEW,     /* not handed in yet */
	WAITER_WAITING, /* belongs to a job */
	WAITER_LEFT,    /* lost patience */
	WAITER_SERVED,  /* its answer is under way */
};

/* Part of whatever the caller remembers of a request; starts zeroed. */
struct waiter {
	enum waiter_state state; /* guarded by the pool's lock, like the rest */
	struct job *job;
	struct waiter *next;
};

int worker_pool_new(unsigned nr_threads, struct worker_pool **out, struct err *err);
/*
 * Cancels all work, answers who still waits with -EINTR, ends the threads.  Nothing may
 * be asked of the pool afterwards but worker_leave() and worker_pool_free().
 */
void worker_pool_stop(struct worker_pool *p);
void worker_pool_free(struct worker_pool *p);

/**
 * worker_ask - hands in work
 * @work: the pool's from now on, in any case: freed through @ops
 * @key: names equal work: a job of the same key that still runs or waits answers @w
 *	too, and @work is dropped; copied
 * @w: the caller's until ops->reply() or until worker_leave() returns true
 * Returns 0, -EINTR if @w has left already, -ENOMEM, -ESHUTDOWN: then @w is still the
 * caller's and nobody answers it.
 */
int worker_ask(struct worker_pool *p, const struct job_ops *ops, void *work,
	       const void *key, size_t len, struct waiter *w);

/**
 * worker_leave - a waiter loses patience
 * Returns true if it was waiting: it is the caller's again, to answer and to free.
 * False: it was not handed in yet (worker_ask() will refuse it) or is being answered.
 */
bool worker_leave(struct worker_pool *p, struct waiter *w);

/* Jobs that run or wait to run. */
size_t worker_pool_busy(struct worker_pool *p);

#endif
