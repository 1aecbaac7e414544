/* SPDX-License-Identifier: GPL-2.0-or-later */
/* chain: outer() calls inner(), which computes for a second of CPU time. */
#include "../../programs/worked.h"

__attribute__((noinline)) static void inner(void)
{
	volatile unsigned x = 0;

	do {
		for (int i = 0; i < 100000; i++)
			x = x * 1664525u + 1013904223u;
	} while (worked_ns() < 1000000000);
}

__attribute__((noinline)) static void outer(void)
{
	inner();
	__asm__ volatile("" ::: "memory");
}

int main(void)
{
	outer();
	worked_tell("chain", worked_ns());
	return 0;
}
