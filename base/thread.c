/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/thread.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

#include "base/clock.h"
#include "base/viewer.h"

enum { LOOK_NS = 50000000 };

int thread_start(pthread_t *out, void *(*run)(void *arg), void *arg)
{
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = -pthread_create(out, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc;
}

static struct timespec next_look(void)
{
	uint64_t ns = clock_mono_ns() + LOOK_NS;

	return (struct timespec){ .tv_sec = (time_t)(ns / CLOCK_NS_PER_S),
				  .tv_nsec = (long)(ns % CLOCK_NS_PER_S) };
}

void thread_wait(pthread_cond_t *changed, pthread_mutex_t *lock)
{
	struct timespec until = next_look();

	pthread_cond_clockwait(changed, lock, CLOCK_MONOTONIC, &until);
}

int thread_lock(pthread_mutex_t *lock, const atomic_bool *cancel)
{
	struct timespec until;

	do {
		if (is_cancelled(cancel))
			return -EINTR;
		until = next_look();
	} while (pthread_mutex_clocklock(lock, CLOCK_MONOTONIC, &until));
	return 0;
}
