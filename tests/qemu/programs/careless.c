/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * careless MS: works so many milliseconds of its CPU time in innermost(), which
 * careless() calls; that has a number of its own in the frame pointer, as libc's start
 * code does.
 */
#include <stdlib.h>
#include <time.h>

void innermost(unsigned long rounds);
void careless(unsigned long rounds);

__attribute__((noinline, noclone)) void innermost(unsigned long rounds)
{
	/* A leaf function would do without a frame. */
	__asm__ volatile("" : : "r"(__builtin_frame_address(0)));
	for (unsigned long i = 0; i < rounds; i++)
		__asm__ volatile("" : "+r"(i));
}

__asm__(".text\n"
	".globl careless\n"
	".type careless, %function\n"
	"careless:\n"
#if defined(__aarch64__)
	"	stp x29, x30, [sp, #-16]!\n"
	"	mov x29, #3\n"
	"	bl innermost\n"
	"	ldp x29, x30, [sp], #16\n"
#else
	"	push %rbp\n"
	"	mov $3, %ebp\n"
	"	call innermost\n"
	"	pop %rbp\n"
#endif
	"	ret\n"
	".size careless, . - careless\n");

int main(int argc, char **argv)
{
	long long end = 0, at;
	struct timespec now;

	if (argc != 2)
		return 2;
	do {
		careless(1000000);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
		at = now.tv_sec * 1000000000LL + now.tv_nsec;
		if (!end)
			end = at + atol(argv[1]) * 1000000LL;
	} while (at < end);
	return 0;
}
