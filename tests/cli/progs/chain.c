/* SPDX-License-Identifier: GPL-2.0-or-later */
/* chain: outer() calls inner(), which computes for a second. */
#include <time.h>

__attribute__((noinline)) static void inner(void)
{
	struct timespec ts;
	volatile unsigned x = 0;

	do {
		for (int i = 0; i < 1000000; i++)
			x = x * 1664525u + 1013904223u;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	} while (ts.tv_sec < 1);
}

__attribute__((noinline)) static void outer(void)
{
	inner();
	__asm__ volatile("" ::: "memory");
}

int main(void)
{
	outer();
	return 0;
}
