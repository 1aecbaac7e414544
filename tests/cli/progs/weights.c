/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * weights [SECONDS]: spends CPU time in three functions as 6 : 3 : 1, SECONDS in all.
 * Each turn is a fixed amount of work, so that shares do not depend on the machine.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#define WORK(name)                                                                       \
	__attribute__((noinline)) unsigned name(unsigned x, unsigned n)                  \
	{                                                                                \
		for (unsigned i = 0; i < n; i++)                                         \
			x = x * 1664525u + 1013904223u;                                  \
		__asm__ volatile("" : "+r"(x));                                          \
		return x;                                                                \
	}

WORK(heavy)
WORK(middle)
WORK(light)

static double cpu_seconds(void)
{
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	return (double)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) +
	       (double)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) / 1e6;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
	unsigned x = 1;

	while (cpu_seconds() < seconds) {
		x = heavy(x, 60000);
		x = middle(x, 30000);
		x = light(x, 10000);
	}
	printf("%u\n", x);
	return 0;
}
