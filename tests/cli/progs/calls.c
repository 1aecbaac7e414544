/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls: a second of leaf(), three quarters of it called by often() and the rest by
 * rarely(); then a function of a library that calls back, and a recursion.  The library
 * is this file as well, built with -DLIBRARY.
 */
#include <time.h>

void in_library(void (*call)(void));

#ifdef LIBRARY
__attribute__((noinline)) void in_library(void (*call)(void))
{
	call();
	__asm__ volatile("" ::: "memory");
}
#else

__attribute__((noinline)) static void leaf(long turns)
{
	volatile unsigned x = 0;

	while (turns-- > 0)
		x = x * 1664525u + 1013904223u;
}

__attribute__((noinline)) static void often(void)
{
	leaf(300000);
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void rarely(void)
{
	leaf(100000);
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void called_back(void)
{
	volatile unsigned x = 0;

	for (long i = 0; i < 30000000; i++)
		x = x * 1664525u + 1013904223u;
}

__attribute__((noinline)) static void deeper(int left)
{
	volatile unsigned x = 0;

	if (left)
		deeper(left - 1);
	for (long i = 0; i < 10000000; i++)
		x = x * 1664525u + 1013904223u;
}

int main(void)
{
	struct timespec ts;

	do {
		often();
		rarely();
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	} while (ts.tv_sec < 1);
	in_library(called_back);
	deeper(4);
	return 0;
}
#endif
