/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/worker.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"

/* How often work that stopped without being told to is begun anew. */
enum { MAX_RETRIES = 8 };

struct job {
	struct job *next; /* of the queue, or of the running ones */
	const struct job_ops *ops;
	void *work;
	struct waiter *waiters;
	atomic_bool cancel;
	bool named; /* in pool->by_key: others may join */
	size_t len;
	char key[];
};

struct worker_pool {
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct job *queue, **queue_end;
	struct job *running;
	struct map by_key; /* struct job by its key */
	bool stop;
	size_t busy;
	unsigned nr_threads;
	pthread_t threads[];
};

/* Nobody joins it from now on.  Lock held. */
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

/* Lock held. */
static void list_del(struct job **list, struct job *j)
{
	while (*list && *list != j)
		list = &(*list)->next;
	if (*list)
		*list = j->next;
}

/* Lock held. */
static bool dequeue(struct worker_pool *p, struct job *j)
{
	for (struct job **at = &p->queue; *at; at = &(*at)->next) {
		if (*at != j)
			continue;
		*at = j->next;
		if (p->queue_end == &j->next)
			p->queue_end = at;
		p->busy--;
		return true;
	}
	return false;
}

static struct job *next_job(struct worker_pool *p)
{
	struct job *j;

	pthread_mutex_lock(&p->lock);
	while (!p->queue && !p->stop)
		pthread_cond_wait(&p->more, &p->lock);
	j = p->queue;
	if (j) {
		p->queue = j->next;
		if (!p->queue)
			p->queue_end = &p->queue;
		j->next = p->running;
		p->running = j;
	}
	pthread_mutex_unlock(&p->lock);
	return j;
}

static int run(struct job *j)
{
	int rc, tries = 0;

	/* what it shared with another that was cancelled is begun anew for this one */
	do
		rc = atomic_load(&j->cancel) ? -EINTR : j->ops->run(j->work, &j->cancel);
	while (rc == -EINTR && !atomic_load(&j->cancel) && ++tries < MAX_RETRIES);
	return rc;
}

static void finish(struct worker_pool *p, struct job *j, int rc)
{
	struct waiter *w, *next;

	pthread_mutex_lock(&p->lock);
	list_del(&p->running, j);
	job_unname(p, j);
	w = j->waiters;
	for (next = w; next; next = next->next)
		next->state = WAITER_SERVED;
	pthread_mutex_unlock(&p->lock);

	for (; w; w = next) {
		next = w->next;
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
		finish(p, j, run(j));
	return NULL;
}

/* Threads that signals never meet: those are for the main thread. */
static int start_threads(struct worker_pool *p, unsigned nr)
{
	sigset_t all, old;
	int rc = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	while (p->nr_threads < nr && !rc) {
		rc = -pthread_create(&p->threads[p->nr_threads], NULL, thread_main, p);
		if (!rc)
			p->nr_threads++;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc;
}

int worker_pool_new(unsigned nr_threads, struct worker_pool **out, struct err *err)
{
	struct worker_pool *p =
		calloc(1, sizeof(*p) + nr_threads * sizeof(p->threads[0]));
	int rc;

	if (!p)
		return err_set(err, -ENOMEM, "out of memory");
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->more, NULL);
	p->queue_end = &p->queue;
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
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	for (struct job *j = p->queue; j; j = j->next)
		atomic_store(&j->cancel, true);
	for (struct job *j = p->running; j; j = j->next)
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
	pthread_cond_destroy(&p->more);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

static struct job *job_new(const struct job_ops *ops, void *work, const void *key,
			   size_t len)
{
	struct job *j = calloc(1, sizeof(*j) + len);

	if (!j)
		return NULL;
	j->ops = ops;
	j->work = work;
	j->len = len;
	memcpy(j->key, key, len);
	return j;
}

/* Lock held. */
static void wait_for(struct job *j, struct waiter *w)
{
	w->state = WAITER_WAITING;
	w->job = j;
	w->next = j->waiters;
	j->waiters = w;
}

/* Lock held.  On failure @j is still the caller's. */
static int enqueue(struct worker_pool *p, struct job *j)
{
	if (map_set(&p->by_key, j->key, j->len, (uintptr_t)j))
		return -ENOMEM;
	j->named = true;
	*p->queue_end = j;
	p->queue_end = &j->next;
	p->busy++;
	pthread_cond_signal(&p->more);
	return 0;
}

int worker_ask(struct worker_pool *p, const struct job_ops *ops, void *work,
	       const void *key, size_t len, struct waiter *w)
{
	struct job *fresh = job_new(ops, work, key, len);
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
	} else if (map_get(&p->by_key, key, len, &found)) {
		wait_for((struct job *)(uintptr_t)found, w);
	} else {
		rc = enqueue(p, fresh);
		if (!rc) {
			wait_for(fresh, w);
			fresh = NULL;
		}
	}
	pthread_mutex_unlock(&p->lock);
	job_free(fresh);
	return rc;
}

/* The last waiter of @j has gone.  True if it had not begun: free it.  Lock held. */
static bool abandon(struct worker_pool *p, struct job *j)
{
	job_unname(p, j);
	atomic_store(&j->cancel, true);
	return dequeue(p, j);
}

bool worker_leave(struct worker_pool *p, struct waiter *w)
{
	struct job *dead = NULL;
	bool was_waiting;

	pthread_mutex_lock(&p->lock);
	was_waiting = w->state == WAITER_WAITING;
	if (was_waiting) {
		struct waiter **at = &w->job->waiters;

		while (*at != w)
			at = &(*at)->next;
		*at = w->next;
		if (!w->job->waiters && abandon(p, w->job))
			dead = w->job;
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
