/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * retire ROUNDS: executes four instructions a round, and few others: what a counter of
 * instructions should have counted.
 */
#include <stdlib.h>

#if defined(__aarch64__)
#define ROUND "subs %0, %0, #1\n\tnop\n\tnop\n\tb.ne 1b"
#else
#define ROUND "dec %0\n\tnop\n\tnop\n\tjnz 1b"
#endif

int main(int argc, char **argv)
{
	unsigned long rounds = argc == 2 ? strtoul(argv[1], NULL, 0) : 0;

	if (!rounds)
		return 2;
	__asm__ volatile("1: " ROUND : "+r"(rounds) : : "cc");
	return 0;
}
