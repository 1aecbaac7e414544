/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls: a second of CPU time in leaf(), three quarters of it called by often() and the
 * rest by rarely(); then a function of a library that calls back, and a recursion, which
 * take a tenth of a second each, every level of it.  Tells $WORKED what was used in
 * leaf().  The library is this file as well, built with -DLIBRARY.
 */
#include "../../programs/worked.h"

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

__attribute__((noinline)) static void often(long turns)
{
	leaf(3 * turns);
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void rarely(long turns)
{
	leaf(turns);
	__asm__ volatile("" ::: "memory");
}

/* In its caller, which is so sampled itself. */
static inline __attribute__((always_inline)) void tenth(void)
{
	long long end = worked_ns() + 100000000;
	volatile unsigned x = 0;

	do {
		for (long i = 0; i < 100000; i++)
			x = x * 1664525u + 1013904223u;
	} while (worked_ns() < end);
}

__attribute__((noinline)) static void called_back(void)
{
	tenth();
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void deeper(int left)
{
	if (left)
		deeper(left - 1);
	tenth();
	__asm__ volatile("" ::: "memory");
}

int main(void)
{
	do {
		long turns = 100 * (long)worked_uneven();

		often(turns);
		rarely(turns);
	} while (worked_ns() < 1000000000);
	worked_tell("leaf", worked_ns());
	in_library(called_back);
	deeper(4);
	return 0;
}
#endif
