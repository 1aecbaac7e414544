/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the programs that tests sample know of their own time.  They work until they have
 * used so much CPU time, never so often or so long by a clock on the wall: how many
 * samples that makes does not depend on how fast the machine is, nor on who else uses it.
 *
 * They tell what they used in the file that $WORKED names, a line a part: "PART
 * NANOSECONDS".  tests/lib/busy.bash reads it.
 */
#ifndef TESTS_PROGRAMS_WORKED_H
#define TESTS_PROGRAMS_WORKED_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* CPU time in nanoseconds, by CLOCK_PROCESS_CPUTIME_ID or CLOCK_THREAD_CPUTIME_ID. */
static inline long long worked_by(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

/* What this process used, all threads and the kernel's part of it included. */
static inline long long worked_ns(void)
{
	return worked_by(CLOCK_PROCESS_CPUTIME_ID);
}

/* What all children used that were waited for, to the kernel's microsecond. */
static inline long long worked_children_ns(void)
{
	struct rusage ru;

	getrusage(RUSAGE_CHILDREN, &ru);
	return (ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * 1000000000LL +
	       (ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) * 1000LL;
}

/*
 * From 500 to 1,499, another one each time: the length of a turn, in thousandths of what
 * it is on average.  Turns of one length fall in step with the timer that takes samples.
 */
static inline unsigned worked_uneven(void)
{
	static unsigned long long x = 1;

	x = x * 16807 % 2147483647;
	return 500 + (unsigned)(x % 1000);
}

/* Adds a line to $WORKED: one write, whole beside those of other processes. */
static inline void worked_tell(const char *part, long long ns)
{
	const char *path = getenv("WORKED");
	char line[128];
	int fd, len;

	if (!path)
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	len = snprintf(line, sizeof(line), "%s %lld\n", part, ns);
	if (fd < 0 || write(fd, line, (size_t)len) != len) {
		perror(path);
		exit(1);
	}
	close(fd);
}

#endif
