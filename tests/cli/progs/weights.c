/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * weights [SECONDS]: spends CPU time in three functions as 6 : 3 : 1, SECONDS in all, and
 * tells $WORKED what it used, by the name it was called.
 * Turns are amounts of work, so that shares do not depend on the machine.
 */
#define _GNU_SOURCE
#include <errno.h>

#include "../../programs/worked.h"

#define WORK(name)                                                                       \
	__attribute__((noinline)) unsigned name(unsigned x, unsigned n)                  \
	{                                                                                \
		for (unsigned i = 0; i < n; i++)                                         \
			x = x * 1664525u + 1013904223u;                                  \
		__asm__ volatile("" : "+r"(x));                                          \
		return x;                                                                \
	}

WORK(heavy)
WORK(middle)
WORK(light)

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
	unsigned x = 1;

	while ((double)worked_ns() < seconds * 1e9) {
		unsigned n = worked_uneven();

		x = heavy(x, 60 * n);
		x = middle(x, 30 * n);
		x = light(x, 10 * n);
	}
	printf("%u\n", x);
	worked_tell(program_invocation_short_name, worked_ns());
	return 0;
}
