/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>
#include <stdatomic.h>

/* Starts a thread that blocks all signals: those are for the main thread.  0 or -errno.
 *  */
int thread_start(pthread_t *out, void *(*run)(void *arg), void *arg);

/*
 * Nobody wakes a thread whose caller leaves: it looks at is_cancelled() itself, twenty
 * times a second.
 */

/* pthread_cond_wait() until the next look. */
void thread_wait(pthread_cond_t *changed, pthread_mutex_t *lock);
/* pthread_mutex_lock(); -EINTR if the caller leaves meanwhile. */
int thread_lock(pthread_mutex_t *lock, const atomic_bool *cancel);

#endif
