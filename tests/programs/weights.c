/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program whose time is split among 50 functions of known weight: weight_N runs N
 * units of the same aligned two-instruction loop, in a new random order each round.
 * weights SECONDS: runs until its own CPU time has passed SECONDS, and tells $WORKED.
 */
#include "worked.h"

#define UNIT 1500ul /* iterations: about half a microsecond */

#if defined(__x86_64__)
#define SPIN(n) __asm__ volatile(".p2align 6\n1:\tsub $1, %0\n\tjnz 1b" : "+r"(n))
#elif defined(__aarch64__)
#define SPIN(n) __asm__ volatile(".p2align 6\n1:\tsubs %0, %0, #1\n\tb.ne 1b" : "+r"(n))
#else
#error "no spin loop for this machine"
#endif

#define WEIGHT(i)                                                                        \
	static __attribute__((noinline, noclone, aligned(64))) void weight_##i(void)     \
	{                                                                                \
		unsigned long n = UNIT * (i);                                            \
		SPIN(n);                                                                 \
	}
#define TEN(X, t)                                                                        \
	X(t##0) X(t##1) X(t##2) X(t##3) X(t##4) X(t##5) X(t##6) X(t##7) X(t##8) X(t##9)
#define ALL(X)                                                                           \
	X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) TEN(X, 1) TEN(X, 2) TEN(X, 3)       \
	TEN(X, 4) X(50)

ALL(WEIGHT)

#define POINTER(i) weight_##i,
static void (*const functions[])(void) = { ALL(POINTER) };
#define NR (sizeof(functions) / sizeof(functions[0]))

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1.0;
	unsigned order[NR];
	unsigned long long seed = 88172645463325252ull;
	size_t i;

	for (i = 0; i < NR; i++)
		order[i] = (unsigned)i;
	while ((double)worked_ns() < seconds * 1e9) {
		for (i = NR - 1; i > 0; i--) {
			unsigned j, t;

			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			j = (unsigned)(seed % (i + 1));
			t = order[i];
			order[i] = order[j];
			order[j] = t;
		}
		for (i = 0; i < NR; i++)
			functions[order[i]]();
	}
	worked_tell("weights", worked_ns());
	return 0;
}
