/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nested MS: works so many milliseconds of its CPU time in innermost(), which middle()
 * calls, which outermost() calls: a call chain that is known.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void innermost(unsigned long rounds);
void middle(unsigned long rounds);
void outermost(unsigned long rounds);

__attribute__((noinline, noclone)) void innermost(unsigned long rounds)
{
	/* A leaf function would do without a frame. */
	__asm__ volatile("" : : "r"(__builtin_frame_address(0)));
	for (unsigned long i = 0; i < rounds; i++)
		__asm__ volatile("" : "+r"(i));
}

__attribute__((noinline, noclone)) void middle(unsigned long rounds)
{
	innermost(rounds);
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline, noclone)) void outermost(unsigned long rounds)
{
	middle(rounds);
	__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	long long end = 0, at;
	struct timespec now;

	if (argc != 2)
		return 2;
	do {
		outermost(1000000);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
		at = now.tv_sec * 1000000000LL + now.tv_nsec;
		if (!end)
			end = at + atol(argv[1]) * 1000000LL;
	} while (at < end);
	return 0;
}
