/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Handles signals all the time, on the stack of what they interrupt or, with an argument,
 * on one of their own; another signal interrupts the handler.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

static volatile unsigned sink;

#define APART __attribute__((noinline))

APART static void works(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink += i;
}

APART static void handles_inner(int sig)
{
	works(30000u + (unsigned)sig);
}

APART static void handles(int sig)
{
	works(10000);
	raise(SIGUSR1);
	works(10000u + (unsigned)sig);
}

APART static unsigned recurses(unsigned n)
{
	if (n)
		return recurses(n - 1) + sink;
	works(100000);
	return sink;
}

int main(int argc, char **argv)
{
	struct itimerval often = { { 0, 2000 }, { 0, 2000 } };
	struct sigaction a = { .sa_handler = handles, .sa_flags = SA_RESTART };
	stack_t own = { .ss_size = 256 << 10 };

	(void)argv;
	if (argc > 1) {
		own.ss_sp = malloc(own.ss_size);
		sigaltstack(&own, NULL);
		a.sa_flags |= SA_ONSTACK;
	}
	sigaction(SIGALRM, &a, NULL);
	a.sa_handler = handles_inner;
	sigaction(SIGUSR1, &a, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (;;)
		recurses(5);
}
