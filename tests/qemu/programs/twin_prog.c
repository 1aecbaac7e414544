/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * twin_prog work MS: works so many milliseconds of its CPU time.
 * twin_prog chain N OTHER: a thread works without end while the process works a
 *	millisecond and then executes OTHER with the same words, N times in all.
 * twin_prog forever: works until it is killed.
 * The twins of this program are linked to one fixed address.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "twin.h"

static void work_ms(long ms)
{
	struct timespec now;
	long long end = 0, at;

	do {
		twin_work(20000);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
		at = now.tv_sec * 1000000000LL + now.tv_nsec;
		if (!end)
			end = at + ms * 1000000LL;
	} while (at < end);
}

static void *work_on(void *unused)
{
	for (;;)
		twin_work(1000000);
	return unused;
}

static int chain(const char *self, const char *left, const char *other)
{
	pthread_t thread;
	char next[24];

	if (atol(left) <= 0)
		return 0;
	if (pthread_create(&thread, NULL, work_on, NULL))
		return 1;
	work_ms(1);
	snprintf(next, sizeof(next), "%ld", atol(left) - 1);
	execl(other, other, "chain", next, self, (char *)NULL);
	perror(other);
	return 1;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "work"))
		work_ms(atol(argv[2]));
	else if (argc == 4 && !strcmp(argv[1], "chain"))
		return chain(argv[0], argv[2], argv[3]);
	else if (argc == 2 && !strcmp(argv[1], "forever"))
		work_on(NULL);
	else
		return 2;
	return 0;
}
