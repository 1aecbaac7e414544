/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storm CHILDREN MICROSECONDS [exec]: forks children that each compute for so long (or
 * execute this program, which does), one after the other, and prints the CPU time of
 * them all in nanoseconds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline)) static void spin(long us)
{
	struct timespec ts;
	volatile unsigned x = 0;

	do {
		for (int i = 0; i < 1000; i++)
			x = x * 1664525u + 1013904223u;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	} while (ts.tv_sec * 1000000L + ts.tv_nsec / 1000 < us);
}

int main(int argc, char **argv)
{
	long children = argc > 1 ? atol(argv[1]) : 0, us = argc > 2 ? atol(argv[2]) : 0;
	struct rusage ru;

	if (!children) {
		spin(us);
		return 0;
	}
	for (long i = 0; i < children; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		if (!pid) {
			if (argc > 3)
				execl("/proc/self/exe", "stormchild", "0", argv[2], NULL);
			spin(us);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	getrusage(RUSAGE_CHILDREN, &ru);
	printf("%lld\n", (ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * 1000000000LL +
				 (ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) * 1000LL);
	return 0;
}
