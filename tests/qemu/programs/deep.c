/* SPDX-License-Identifier: GPL-2.0-or-later */
/* deep DEPTH MS: works so many milliseconds of its CPU time below so many callers. */
#include <stdlib.h>
#include <time.h>

static long long worked_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

__attribute__((noinline, noclone)) static void descend(long depth, long long ms)
{
	if (depth)
		descend(depth - 1, ms);
	else
		while (worked_ms() < ms)
			for (unsigned long i = 0; i < 1000000; i++)
				__asm__ volatile("" : "+r"(i));
	/* No call of the last resort: the frame stays. */
	__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	descend(atol(argv[1]), atoll(argv[2]));
	return 0;
}
