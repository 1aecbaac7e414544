/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

#include "base/thread.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static atomic_bool cancel;

static void *see_mask(void *arg)
{
	pthread_sigmask(SIG_SETMASK, NULL, arg);
	return NULL;
}

Test(thread, blocks_signals_in_what_it_starts_and_nowhere_else)
{
	pthread_t thread;
	sigset_t there, here;

	cr_assert_eq(thread_start(&thread, see_mask, &there), 0);
	pthread_join(thread, NULL);
	pthread_sigmask(SIG_SETMASK, NULL, &here);
	cr_expect(sigismember(&there, SIGTERM));
	cr_expect_not(sigismember(&here, SIGTERM));
}

static void *lock_it(void *arg)
{
	*(int *)arg = thread_lock(&lock, &cancel);
	return NULL;
}

Test(thread, a_caller_that_leaves_does_not_wait_for_a_lock)
{
	pthread_t thread;
	int rc = 1;

	cr_assert_eq(thread_lock(&lock, &cancel), 0);
	cr_assert_eq(thread_start(&thread, lock_it, &rc), 0);
	usleep(10000);
	atomic_store(&cancel, true);
	pthread_join(thread, NULL);
	cr_expect_eq(rc, -EINTR);
	pthread_mutex_unlock(&lock);
	cr_expect_eq(thread_lock(&lock, NULL), 0);
}

Test(thread, waiting_ends_without_a_signal)
{
	pthread_mutex_lock(&lock);
	thread_wait(&changed, &lock);
	cr_expect_eq(pthread_mutex_trylock(&lock), EBUSY, "the lock is held again");
	pthread_mutex_unlock(&lock);
}
