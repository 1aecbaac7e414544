/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What programs share that work for so much CPU time: however busy the machine is. */
#ifndef TESTS_PROGRAMS_CPUTIME_H
#define TESTS_PROGRAMS_CPUTIME_H

#include <time.h>
#include <unistd.h>

/* One page or less, in a page of its own in the file, and needs nothing else: so that it
 * can be mapped anywhere. */
#define ALONE __attribute__((noinline, noclone, aligned(65536), section(".text.alone")))

#define WORK(name, attributes)                                                           \
	attributes unsigned name(unsigned x, unsigned n)                                 \
	{                                                                                \
		for (unsigned i = 0; i < n; i++)                                         \
			x = x * 1664525u + 1013904223u;                                  \
		__asm__ volatile("" : "+r"(x));                                          \
		return x;                                                                \
	}

typedef unsigned work_fn(unsigned x, unsigned n);

enum { TURN = 100000 }; /* of a work function: some 100 us */

static volatile unsigned sink;

static inline double cpu_ms(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

/* Works for so much CPU time of the thread; returns how much it really was. */
static inline double work_ms(work_fn *f, double ms)
{
	double begun = cpu_ms(CLOCK_THREAD_CPUTIME_ID), now;

	do {
		sink = f(sink, TURN);
		now = cpu_ms(CLOCK_THREAD_CPUTIME_ID);
	} while (now - begun < ms);
	return now - begun;
}

/* A tester that attaches to the program sees samples of warm(), and then makes the file:
 * all of what follows is sampled.  Without a name ("-"): goes on at once. */
static inline void warm_until(const char *file, work_fn *warm)
{
	if (file[0] == '-' && !file[1])
		return;
	while (access(file, F_OK))
		work_ms(warm, 1);
}

#endif
