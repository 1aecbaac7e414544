/* SPDX-License-Identifier: GPL-2.0-or-later */
/* threads N MICROSECONDS: N threads that each compute for so long, all alive at once. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long us;
static pthread_barrier_t all;

__attribute__((noinline)) static void *work(void *arg)
{
	struct timespec ts;
	volatile unsigned x = 0;

	pthread_barrier_wait(&all);
	do {
		for (int i = 0; i < 1000; i++)
			x = x * 1664525u + 1013904223u;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	} while (ts.tv_sec * 1000000L + ts.tv_nsec / 1000 < us);
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
	return 0;
}
