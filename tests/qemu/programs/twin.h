/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two images that look alike from outside and execute different pages: built with
 * -DTWIN=1 the first page of two works and the second is never reached, with -DTWIN=2 it
 * is the other way round.  A sample on the page never reached, twin_trap, belongs to the
 * other twin: it was misattributed.
 */
#define TRAP_PAGE                                                                        \
	__asm__(".text\n.balign 4096\n.globl twin_trap\n.type twin_trap, %function\n"    \
		"twin_trap: .fill 1024, 4, 0\n.size twin_trap, 4096\n")

#if TWIN == 2
TRAP_PAGE;
#endif

/* Works for so many rounds of about a nanosecond on a real machine. */
__attribute__((aligned(4096), noinline, noclone)) void twin_work(unsigned long rounds);
void twin_work(unsigned long rounds)
{
	for (unsigned long i = 0; i < rounds; i++)
		__asm__ volatile("" : "+r"(i));
}

#if TWIN == 1
TRAP_PAGE;
#endif

/* Both are as long, so that one is mapped where the other one was. */
__asm__(".text\n.balign 4096\n");
