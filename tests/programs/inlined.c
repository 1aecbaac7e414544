/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "inlined.h"

static int __attribute__((noinline, cold)) rare(volatile int *p)
{
	return outer(p) + 1;
}

int other(int x)
{
	volatile int y = x;

	if (__builtin_expect(x > 1000, 0))
		return rare(&y) + middle(&y);
	return outer(&y);
}
