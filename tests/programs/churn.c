/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * churn GO MS EACH [main-ends]: threads come and go, one to eight at a time; each works
 * EACH ms of CPU time and starts those that come behind it, until MS were used in all.
 * It begins once the file GO is there ("-": at once).  With main-ends the first thread
 * ends before anything else.  Prints the CPU time of the work, in milliseconds, that of
 * the process from then on (getrusage), and how many threads there were.
 */
#include "cputime.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { MOST = 8 };

WORK(work, __attribute__((noinline, noclone)))
WORK(warm, __attribute__((noinline, noclone)))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static double all_ms, each_ms, used_ms, rusage_ms;
static unsigned running, nr_started;
static unsigned long long seed = 88172645463325252ull;
static const char *go;

static unsigned chance(unsigned below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed % below);
}

static double process_ms(void)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1e3 +
	       (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e3;
}

static void *live(void *arg);

/* Under the lock. */
static void start(unsigned n)
{
	pthread_attr_t attr;
	pthread_t id;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, 256 << 10);
	for (; n; n--) {
		if (pthread_create(&id, &attr, live, NULL))
			exit(1);
		running++;
		nr_started++;
	}
	pthread_attr_destroy(&attr);
}

static void *live(void *arg)
{
	double used = work_ms(work, each_ms);

	pthread_mutex_lock(&lock);
	used_ms += used;
	running--;
	/* one comes on average: none, one or two */
	if (used_ms < all_ms) {
		unsigned n = chance(3);

		if (!n && !running)
			n = 1;
		start(running + n > MOST ? MOST - running : n);
	} else if (!running) {
		printf("%.0f %.0f %u\n", used_ms, process_ms() - rusage_ms, nr_started);
		exit(0);
	}
	pthread_mutex_unlock(&lock);
	return arg;
}

static void *begin(void *arg)
{
	warm_until(go, warm);
	pthread_mutex_lock(&lock);
	rusage_ms = process_ms();
	start(4);
	pthread_mutex_unlock(&lock);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t id;

	if (argc < 4)
		return 2;
	go = argv[1];
	all_ms = atof(argv[2]);
	each_ms = atof(argv[3]);
	if (pthread_create(&id, NULL, begin, NULL))
		return 1;
	if (argc > 4 && !strcmp(argv[4], "main-ends"))
		pthread_exit(NULL);
	for (;;)
		pause();
}
