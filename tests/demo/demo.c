/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What "make demo" records: a program that does the same step over and over, so many
 * times in each of four functions that their shares of its time are 50, 30, 15 and 5
 * percent.  demo [SECONDS]: runs until it has used that much CPU time (2 by default).
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define STEPS 500u /* a unit of work: about a microsecond */

static uint64_t state = 88172645463325252u;

/* A chain of multiplications: where the code happens to lie does not change its speed. */
static inline __attribute__((always_inline)) void work(unsigned units)
{
	uint64_t x = state;

	for (unsigned i = units * STEPS; i; i--) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		__asm__ volatile("" : "+r"(x));
	}
	state = x;
}

static __attribute__((noinline, noclone)) void parse_50(unsigned n)
{
	work(10 * n);
}

static __attribute__((noinline, noclone)) void sort_30(unsigned n)
{
	work(6 * n);
}

static __attribute__((noinline, noclone)) void hash_15(unsigned n)
{
	work(3 * n);
}

static __attribute__((noinline, noclone)) void print_5(unsigned n)
{
	work(n);
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 2.0;

	/* Rounds of different length never keep step with the sampling clock. */
	while ((double)clock() / CLOCKS_PER_SEC < seconds) {
		unsigned n = 1 + (unsigned)(state >> 60);

		parse_50(n);
		sort_30(n);
		hash_15(n);
		print_5(n);
	}
	printf("demo: used %.1f s of CPU time (result %016llx)\n",
	       (double)clock() / CLOCKS_PER_SEC, (unsigned long long)state);
	return 0;
}
