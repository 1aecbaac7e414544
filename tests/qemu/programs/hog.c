/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hog CPU US SECONDS: sleeps so many microseconds, then keeps the CPU busy for so many
 *	seconds, before everybody else who is not of the kernel's own.
 * hog idle CPU COMMAND...: runs a command that gets that CPU when nobody else wants it.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static int bind_to(const char *cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(atoi(cpu), &cpus);
	return sched_setaffinity(0, sizeof(cpus), &cpus);
}

static int run_idle(char **words)
{
	struct sched_param param = { 0 };

	if (bind_to(words[0]) || sched_setscheduler(0, SCHED_IDLE, &param))
		return 1;
	execvp(words[1], words + 1);
	return 1;
}

static int keep_busy(char **words)
{
	struct timespec now, nap = { 0 };
	time_t end;

	nap.tv_nsec = atol(words[1]) * 1000;
	if (bind_to(words[0]) || setpriority(PRIO_PROCESS, 0, -20) ||
	    nanosleep(&nap, NULL))
		return 1;
	clock_gettime(CLOCK_MONOTONIC, &now);
	end = now.tv_sec + atol(words[2]);
	while (now.tv_sec < end)
		clock_gettime(CLOCK_MONOTONIC, &now);
	return 0;
}

int main(int argc, char **argv)
{
	int rc;

	if (argc < 4)
		return 2;
	rc = strcmp(argv[1], "idle") ? keep_busy(argv + 1) : run_idle(argv + 2);
	if (rc)
		perror("hog");
	return rc;
}
