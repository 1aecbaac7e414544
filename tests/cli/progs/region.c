// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * region SECONDS: runs code in memory without a file for so many seconds of processor
 * time, and prints where that is.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { LEN = 4096 };

/* Calls nothing and uses no data, so it runs anywhere. */
__attribute__((noinline, optimize("no-stack-protector"))) static unsigned
spin(unsigned n)
{
	unsigned x = 1;

	while (n--)
		x = x * 3 + 1;
	return x;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	char *at = mmap(NULL, LEN, PROT_READ | PROT_WRITE | PROT_EXEC,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned (*run)(unsigned);

	if (at == MAP_FAILED)
		return 1;
	memcpy(at, (const void *)(uintptr_t)spin, 256);
	__builtin___clear_cache(at, at + LEN);
	run = (unsigned (*)(unsigned))(uintptr_t)at;
	printf("%lx\n", (unsigned long)(uintptr_t)at);
	while ((double)clock() < seconds * CLOCKS_PER_SEC)
		run(1000000);
	return 0;
}
