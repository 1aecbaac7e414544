/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * late_child.so: for LD_PRELOAD.  In processes whose command line holds "--box=", and in
 * what they fork, it makes the machine a bad one:
 *
 * OPFS_TEST_LATE_MS=N or A-B   the first instruction comes so much later (a random time)
 * OPFS_TEST_KILL_MS=N          killed at a random moment up to N ms after that is begun
 * OPFS_TEST_KILL_FILE=FILE     counts the processes that were given such a moment
 * OPFS_TEST_KILLS=N            after so many of them no other is; both are needed
 *
 * A process may end before its moment, so that fewer are killed than were counted.  The
 * kernel kills, by a timer: neither a blocked signal nor a closed file prevents it.  The
 * count is in shared memory, since a child may not be able to open a file any more.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static long late_min, late_max, kill_ms, kills;
static _Atomic unsigned *given; /* how many were given a moment; NULL: none is */

static bool is_box(void)
{
	char line[8192];
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof(line));

	if (fd >= 0)
		close(fd);
	return n > 0 && memmem(line, (size_t)n, "--box=", 6);
}

static long number(const char *name)
{
	const char *text = getenv(name);

	return text ? strtol(text, NULL, 10) : 0;
}

/* 0 to below @below; not rand(), whose state children share. */
static long chance(long below)
{
	struct timespec ts;
	unsigned long long x;

	if (below <= 0)
		return 0;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	x = (unsigned long long)ts.tv_nsec ^ (unsigned long long)getpid() << 32;
	x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 32) * 0x94d049bb133111ebull;
	return (long)((x ^ x >> 31) % (unsigned long long)below);
}

static void die_some_time(void)
{
	struct sigevent by = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL };
	struct itimerspec at = { 0 };
	long us = 1 + chance(kill_ms * 1000);
	timer_t timer;

	if (!given || kill_ms <= 0 || atomic_load(given) >= (unsigned)kills ||
	    atomic_fetch_add(given, 1) >= (unsigned)kills)
		return;
	at.it_value.tv_sec = us / 1000000;
	at.it_value.tv_nsec = us % 1000000 * 1000;
	if (!timer_create(CLOCK_MONOTONIC, &by, &timer))
		timer_settime(timer, 0, &at, NULL);
}

/* The life of each of them begins here. */
static void begin(void)
{
	long ms = late_min + chance(late_max - late_min + 1);
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	die_some_time();
	while (ms > 0 && nanosleep(&ts, &ts))
		;
}

static void read_settings(void)
{
	const char *late = getenv("OPFS_TEST_LATE_MS");
	const char *file = getenv("OPFS_TEST_KILL_FILE");
	const char *dash = late ? strchr(late, '-') : NULL;
	void *shared = MAP_FAILED;
	int fd;

	late_min = number("OPFS_TEST_LATE_MS");
	late_max = dash ? strtol(dash + 1, NULL, 10) : late_min;
	kill_ms = number("OPFS_TEST_KILL_MS");
	kills = number("OPFS_TEST_KILLS");
	fd = file ? open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
	if (fd < 0)
		return;
	if (!ftruncate(fd, sizeof(*given)))
		shared = mmap(NULL, sizeof(*given), PROT_READ | PROT_WRITE, MAP_SHARED,
			      fd, 0);
	close(fd);
	if (shared != MAP_FAILED)
		given = shared;
}

__attribute__((constructor)) static void loaded(void)
{
	if (!is_box())
		return;
	read_settings();
	pthread_atfork(NULL, NULL, begin);
	begin();
}
