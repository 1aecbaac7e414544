/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * threads N MICROSECONDS: N threads that each compute for so long, by their own CPU time,
 * all alive at once.  Tells $WORKED what they used together.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "../../programs/worked.h"

static long us;
static pthread_barrier_t all;
static atomic_llong together;

__attribute__((noinline)) static void *work(void *arg)
{
	volatile unsigned x = 0;
	long long ns;

	pthread_barrier_wait(&all);
	do {
		/* long beside the system call that asks for the time */
		for (int i = 0; i < 20000; i++)
			x = x * 1664525u + 1013904223u;
		ns = worked_by(CLOCK_THREAD_CPUTIME_ID);
	} while (ns < us * 1000LL);
	atomic_fetch_add(&together, ns);
	return arg;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t *ids = calloc((size_t)n, sizeof(*ids));

	us = argc > 2 ? atol(argv[2]) : 1000;
	pthread_barrier_init(&all, NULL, (unsigned)n);
	for (int i = 0; i < n; i++)
		if (pthread_create(&ids[i], NULL, work, NULL))
			return 1;
	for (int i = 0; i < n; i++)
		pthread_join(ids[i], NULL);
	free(ids);
	worked_tell("threads", together);
	return 0;
}
