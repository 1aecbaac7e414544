/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/aside.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

enum { MAX_STUCK = 16 };

struct request {
	void (*work)(void *job);
	void (*drop)(void *job);
	void *job;
	bool done, left; /* left: nobody waits for it */
};

/* One thread waits for the next request; those that are stuck end when they are not. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER; /* before lock */
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER, done;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct request *next;
static bool idle; /* a thread waits, or will */
static unsigned stuck;

static void init(void)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&done, &attr);
	pthread_condattr_destroy(&attr);
}

static void finish(struct request *r)
{
	if (!r->left) {
		r->done = true;
		pthread_cond_signal(&done);
		return;
	}
	stuck--;
	r->drop(r->job);
	free(r);
}

static void *serve(void *arg)
{
	bool goes_on = true;

	(void)arg;
	pthread_mutex_lock(&lock);
	while (goes_on) {
		struct request *r;

		while (!next)
			pthread_cond_wait(&wake, &lock);
		r = next;
		next = NULL;
		pthread_mutex_unlock(&lock);
		r->work(r->job);
		pthread_mutex_lock(&lock);
		/* whoever was left alone has been replaced */
		goes_on = !r->left || !idle;
		idle |= r->left && goes_on;
		finish(r);
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

static bool start_thread(void)
{
	sigset_t all, old;
	pthread_attr_t attr;
	pthread_t thread;
	int rc;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, 256 * 1024);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&thread, &attr, serve, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return !rc;
}

/* With the lock held.  0 or -ETIMEDOUT. */
static int wait_for(struct request *r, int ms)
{
	struct timespec until;
	int rc = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += ms % 1000 * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	while (!r->done && rc != ETIMEDOUT)
		rc = pthread_cond_timedwait(&done, &lock, &until);
	return r->done ? 0 : -ETIMEDOUT;
}

/* With the lock held. */
static int ask(struct request *r, int ms)
{
	int rc;

	if (stuck >= MAX_STUCK)
		return -EAGAIN;
	if (!idle && !start_thread())
		return -EAGAIN;
	idle = true;
	next = r;
	pthread_cond_signal(&wake);
	rc = wait_for(r, ms);
	if (!rc)
		return 0;
	if (next == r) { /* not even begun: the machine is that busy */
		next = NULL;
		return -EAGAIN;
	}
	r->left = true;
	stuck++;
	idle = false;
	return rc;
}

int coll_aside(void (*work)(void *job), void (*drop)(void *job), void *job, int ms)
{
	struct request *r = malloc(sizeof(*r));
	int rc;

	if (!r)
		return -EAGAIN;
	*r = (struct request){ .work = work, .drop = drop, .job = job };
	pthread_once(&once, init);
	pthread_mutex_lock(&asking);
	pthread_mutex_lock(&lock);
	rc = ask(r, ms);
	pthread_mutex_unlock(&lock);
	pthread_mutex_unlock(&asking);
	if (rc != -ETIMEDOUT)
		free(r);
	return rc;
}

unsigned coll_aside_stuck(void)
{
	unsigned nr;

	pthread_mutex_lock(&lock);
	nr = stuck;
	pthread_mutex_unlock(&lock);
	return nr;
}
