/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/mount/worker.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/map.h"
#include "base/share.h"
#include "base/thread.h"
#include "base/viewer.h"

/* How often work that stopped without being cancelled is started again. */
enum { MAX_RETRIES = 8 };

struct job {
	TAILQ_ENTRY(job) link; /* of the queue, or of the running ones */
	const struct job_ops *ops;
	void *work;
	LIST_HEAD(, waiter) waiters;
	atomic_bool cancel;
	bool queued;
	bool named; /* in pool->by_key: more waiters may join */
	uid_t uid;
	size_t len;
	char key[];
};

TAILQ_HEAD(jobs, job);

struct worker_pool {
	pthread_mutex_t
		lock; /* over all below, and what is mutable in jobs and waiters */
	pthread_cond_t more;
	struct jobs queue, running;
	struct map by_key;  /* struct job by its key */
	struct share share; /* of the threads */
	bool stop;
	size_t busy;
	unsigned nr_threads;
	pthread_t threads[];
};

/* No waiter joins it from now on.  Lock held. */
static void job_unname(struct worker_pool *p, struct job *j)
{
	if (j->named)
		map_del(&p->by_key, j->key, j->len);
	j->named = false;
}

static void job_free(struct job *j)
{
	if (!j)
		return;
	j->ops->free(j->work);
	free(j);
}

/* The oldest job whose user may have one more thread.  A job that is left in the queue
 * has another of its user running, whose thread comes back for it.  Lock held. */
static struct job *choose(struct worker_pool *p)
{
	struct job *j;

	TAILQ_FOREACH(j, &p->queue, link)
		if (!share_take(&p->share, j->uid, 1))
			return j;
	return NULL;
}

static struct job *next_job(struct worker_pool *p)
{
	struct job *j;

	pthread_mutex_lock(&p->lock);
	while (!(j = choose(p)) && !p->stop)
		pthread_cond_wait(&p->more, &p->lock);
	if (j) {
		TAILQ_REMOVE(&p->queue, j, link);
		TAILQ_INSERT_TAIL(&p->running, j, link);
		j->queued = false;
	}
	pthread_mutex_unlock(&p->lock);
	return j;
}

static int run_job(struct job *j)
{
	int rc, tries = 0;

	/* it may have shared something with another job, which was cancelled */
	do
		rc = is_cancelled(&j->cancel) ? -EINTR : j->ops->run(j->work, &j->cancel);
	while (rc == -EINTR && !is_cancelled(&j->cancel) && ++tries < MAX_RETRIES);
	return rc;
}

static void finish(struct worker_pool *p, struct job *j, int rc)
{
	struct waiter *w;

	pthread_mutex_lock(&p->lock);
	TAILQ_REMOVE(&p->running, j, link);
	job_unname(p, j);
	LIST_FOREACH(w, &j->waiters, link)
		w->state = WAITER_SERVED;
	share_give(&p->share, j->uid, 1);
	/* several users may have become free to go on */
	if (!TAILQ_EMPTY(&p->queue))
		pthread_cond_broadcast(&p->more);
	pthread_mutex_unlock(&p->lock);

	while ((w = LIST_FIRST(&j->waiters))) {
		LIST_REMOVE(w, link);
		j->ops->reply(j->work, rc, w);
	}
	job_free(j);
	pthread_mutex_lock(&p->lock);
	p->busy--;
	pthread_mutex_unlock(&p->lock);
}

static void *thread_main(void *arg)
{
	struct worker_pool *p = arg;
	struct job *j;

	while ((j = next_job(p)))
		finish(p, j, run_job(j));
	return NULL;
}

static int start_threads(struct worker_pool *p, unsigned nr)
{
	int rc = 0;

	while (p->nr_threads < nr && !rc) {
		rc = thread_start(&p->threads[p->nr_threads], thread_main, p);
		if (!rc)
			p->nr_threads++;
	}
	return rc;
}

int worker_pool_new(unsigned nr_threads, bool fair, struct worker_pool **out,
		    struct err *err)
{
	struct worker_pool *p =
		calloc(1, sizeof(*p) + nr_threads * sizeof(p->threads[0]));
	int rc;

	if (!p)
		return err_set(err, -ENOMEM, "out of memory");
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->more, NULL);
	TAILQ_INIT(&p->queue);
	TAILQ_INIT(&p->running);
	share_init(&p->share, nr_threads, fair);
	rc = start_threads(p, nr_threads);
	if (rc) {
		worker_pool_free(p);
		return err_errno(err, rc, "cannot start %u threads", nr_threads);
	}
	*out = p;
	return 0;
}

void worker_pool_stop(struct worker_pool *p)
{
	struct job *j;

	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	TAILQ_FOREACH(j, &p->queue, link)
		atomic_store(&j->cancel, true);
	TAILQ_FOREACH(j, &p->running, link)
		atomic_store(&j->cancel, true);
	pthread_cond_broadcast(&p->more);
	pthread_mutex_unlock(&p->lock);
	while (p->nr_threads)
		pthread_join(p->threads[--p->nr_threads], NULL);
}

void worker_pool_free(struct worker_pool *p)
{
	if (!p)
		return;
	worker_pool_stop(p);
	map_fini(&p->by_key);
	share_fini(&p->share);
	pthread_cond_destroy(&p->more);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

static struct job *job_new(const struct job_ops *ops, void *work,
			   const struct job_key *key)
{
	struct job *j = calloc(1, sizeof(*j) + key->len);

	if (!j)
		return NULL;
	j->ops = ops;
	j->work = work;
	j->uid = key->uid;
	j->len = key->len;
	memcpy(j->key, key->id, key->len);
	return j;
}

/* Lock held. */
static void add_waiter(struct job *j, struct waiter *w)
{
	w->state = WAITER_WAITING;
	w->job = j;
	LIST_INSERT_HEAD(&j->waiters, w, link);
}

/* Lock held.  On failure @j is still the caller's. */
static int enqueue(struct worker_pool *p, struct job *j)
{
	if (map_set(&p->by_key, j->key, j->len, (uintptr_t)j))
		return -ENOMEM;
	j->named = true;
	j->queued = true;
	TAILQ_INSERT_TAIL(&p->queue, j, link);
	p->busy++;
	pthread_cond_signal(&p->more);
	return 0;
}

int worker_ask(struct worker_pool *p, const struct job_ops *ops, void *work,
	       const struct job_key *key, struct waiter *w)
{
	struct job *fresh = job_new(ops, work, key);
	uint64_t found;
	int rc = 0;

	if (!fresh) {
		ops->free(work);
		return -ENOMEM;
	}
	pthread_mutex_lock(&p->lock);
	if (p->stop) {
		rc = -ESHUTDOWN;
	} else if (w->state == WAITER_LEFT) {
		rc = -EINTR;
	} else if (map_get(&p->by_key, key->id, key->len, &found)) {
		add_waiter((struct job *)(uintptr_t)found, w);
	} else {
		rc = enqueue(p, fresh);
		if (!rc) {
			add_waiter(fresh, w);
			fresh = NULL;
		}
	}
	pthread_mutex_unlock(&p->lock);
	job_free(fresh);
	return rc;
}

/* @j has lost its last waiter.  Returns it if it did not start: free it.  Lock held. */
static struct job *abandon(struct worker_pool *p, struct job *j)
{
	job_unname(p, j);
	atomic_store(&j->cancel, true);
	if (!j->queued)
		return NULL;
	TAILQ_REMOVE(&p->queue, j, link);
	p->busy--;
	return j;
}

bool worker_leave(struct worker_pool *p, struct waiter *w)
{
	struct job *dead = NULL;
	bool was_waiting;

	pthread_mutex_lock(&p->lock);
	was_waiting = w->state == WAITER_WAITING;
	if (was_waiting) {
		LIST_REMOVE(w, link);
		if (LIST_EMPTY(&w->job->waiters))
			dead = abandon(p, w->job);
	}
	if (w->state != WAITER_SERVED)
		w->state = WAITER_LEFT;
	pthread_mutex_unlock(&p->lock);
	job_free(dead);
	return was_waiting;
}

size_t worker_pool_busy(struct worker_pool *p)
{
	size_t busy;

	pthread_mutex_lock(&p->lock);
	busy = p->busy;
	pthread_mutex_unlock(&p->lock);
	return busy;
}
