/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hog CPU US SECONDS: sleeps so many microseconds, then keeps the CPU busy for so many
 *	seconds, before everybody else who is not of the kernel's own.
 * hog during CPU COMMAND...: runs a command on other CPUs, and meanwhile keeps this one
 *	busy, before everybody else: nobody there goes on until the command has ended, or
 *	for a second, for what it waits for may be one of them.
 * hog idle CPU COMMAND...: runs a command that gets that CPU when nobody else wants it.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int bind_to(const char *cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(atoi(cpu), &cpus);
	return sched_setaffinity(0, sizeof(cpus), &cpus);
}

static long long now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

static void run_elsewhere(char **words)
{
	struct sched_param param = { 0 };
	cpu_set_t cpus;

	memset(&cpus, 0xff, sizeof(cpus));
	CPU_CLR(atoi(words[0]), &cpus);
	if (!sched_setaffinity(0, sizeof(cpus), &cpus) &&
	    !sched_setscheduler(0, SCHED_OTHER, &param))
		execvp(words[1], words + 1);
	perror(words[1]);
	_exit(127);
}

static int busy_during(char **words)
{
	struct sched_param param = { .sched_priority = 1 };
	int status = 0;
	long long end;
	pid_t pid;

	if (bind_to(words[0]) || sched_setscheduler(0, SCHED_FIFO, &param))
		return 1;
	pid = fork();
	if (!pid)
		run_elsewhere(words);
	end = now_us() + 1000000;
	while (pid > 0 && waitpid(pid, &status, now_us() < end ? WNOHANG : 0) == 0)
		;
	return pid < 0 || status;
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
	struct timespec nap = { .tv_nsec = atol(words[1]) * 1000 };
	long long end;

	if (bind_to(words[0]) || setpriority(PRIO_PROCESS, 0, -20) ||
	    nanosleep(&nap, NULL))
		return 1;
	end = now_us() + atol(words[2]) * 1000000;
	while (now_us() < end)
		;
	return 0;
}

int main(int argc, char **argv)
{
	int rc;

	if (argc < 4)
		return 2;
	if (!strcmp(argv[1], "idle"))
		rc = run_idle(argv + 2);
	else if (!strcmp(argv[1], "during"))
		rc = busy_during(argv + 2);
	else
		rc = keep_busy(argv + 1);
	if (rc)
		perror("hog");
	return rc;
}
