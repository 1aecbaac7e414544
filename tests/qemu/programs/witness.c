/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * witness MS [THREADS]: so many threads work for so many milliseconds of CPU time in
 * innermost(), which middle() calls, which outermost() calls.  None of these has a frame
 * pointer, and what is on the stack of innermost() is known (witness.h).  Every other
 * call makes system calls all the time.
 */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "tests/qemu/programs/witness.h"

/*
 * @calls: makes a system call in each round, getpid().  @not_magic: ~WITNESS_MAGIC, so
 * that nobody else has that on the stack.
 */
void outermost(unsigned long rounds, unsigned long calls, unsigned long not_magic);

#ifdef __x86_64__
__asm__(".text\n"
	".globl innermost, middle, outermost\n"
	".type innermost, @function\n"
	".type middle, @function\n"
	".type outermost, @function\n"
	"innermost:\n"
	".cfi_startproc\n"
	"	push %rbp\n"
	".cfi_adjust_cfa_offset 8\n"
	".cfi_rel_offset %rbp, 0\n"
	"	push %rbx\n"
	".cfi_adjust_cfa_offset 8\n"
	".cfi_rel_offset %rbx, 0\n"
	"	sub $24, %rsp\n"
	".cfi_adjust_cfa_offset 24\n"
	"	xor %ebp, %ebp\n"
	"	mov $1000000, %ebx\n"
	"	mov %rbp, 8(%rsp)\n"
	"	mov %rbx, 16(%rsp)\n"
	"	not %rdx\n"
	"	mov %rdx, (%rsp)\n"
	"1:	inc %rbp\n"
	"	mov %rbp, 8(%rsp)\n"
	"	inc %rbx\n"
	"	mov %rbx, 16(%rsp)\n"
	"	test %rsi, %rsi\n"
	"	jz 2f\n"
	"	mov $39, %eax\n"
	"	syscall\n"
	"2:	dec %rdi\n"
	"	jnz 1b\n"
	"	movq $0, (%rsp)\n"
	"	add $24, %rsp\n"
	".cfi_adjust_cfa_offset -24\n"
	"	pop %rbx\n"
	".cfi_adjust_cfa_offset -8\n"
	".cfi_restore %rbx\n"
	"	pop %rbp\n"
	".cfi_adjust_cfa_offset -8\n"
	".cfi_restore %rbp\n"
	"	ret\n"
	".cfi_endproc\n"
	".size innermost, . - innermost\n"
	"middle:\n"
	".cfi_startproc\n"
	"	sub $8, %rsp\n"
	".cfi_adjust_cfa_offset 8\n"
	"	call innermost\n"
	"	add $8, %rsp\n"
	".cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	".cfi_endproc\n"
	".size middle, . - middle\n"
	"outermost:\n"
	".cfi_startproc\n"
	"	sub $8, %rsp\n"
	".cfi_adjust_cfa_offset 8\n"
	"	call middle\n"
	"	add $8, %rsp\n"
	".cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	".cfi_endproc\n"
	".size outermost, . - outermost\n");
#else
__asm__(".text\n"
	".globl innermost, middle, outermost\n"
	".type innermost, @function\n"
	".type middle, @function\n"
	".type outermost, @function\n"
	"innermost:\n"
	".cfi_startproc\n"
	"	sub sp, sp, #48\n"
	".cfi_adjust_cfa_offset 48\n"
	"	stp x29, x30, [sp, #32]\n"
	".cfi_rel_offset x29, 32\n"
	".cfi_rel_offset x30, 40\n"
	"	mov x29, #0\n"
	"	mov x30, #4096\n"
	"	stp x29, x30, [sp, #8]\n"
	"	mvn x2, x2\n"
	"	str x2, [sp]\n"
	"	mov x3, x0\n"
	"1:	add x29, x29, #1\n"
	"	str x29, [sp, #8]\n"
	"	add x30, x30, #1\n"
	"	str x30, [sp, #16]\n"
	"	cbz x1, 2f\n"
	"	mov x8, #172\n"
	"	svc #0\n"
	"2:	subs x3, x3, #1\n"
	"	b.ne 1b\n"
	"	str xzr, [sp]\n"
	"	ldp x29, x30, [sp, #32]\n"
	".cfi_restore x29\n"
	".cfi_restore x30\n"
	"	add sp, sp, #48\n"
	".cfi_adjust_cfa_offset -48\n"
	"	ret\n"
	".cfi_endproc\n"
	".size innermost, . - innermost\n"
	"middle:\n"
	".cfi_startproc\n"
	"	str x30, [sp, #-16]!\n"
	".cfi_adjust_cfa_offset 16\n"
	".cfi_rel_offset x30, 0\n"
	"	str x30, [sp, #8]\n"
	"	bl innermost\n"
	"	ldr x30, [sp], #16\n"
	".cfi_adjust_cfa_offset -16\n"
	".cfi_restore x30\n"
	"	ret\n"
	".cfi_endproc\n"
	".size middle, . - middle\n"
	"outermost:\n"
	".cfi_startproc\n"
	"	str x30, [sp, #-16]!\n"
	".cfi_adjust_cfa_offset 16\n"
	".cfi_rel_offset x30, 0\n"
	"	str x30, [sp, #8]\n"
	"	bl middle\n"
	"	ldr x30, [sp], #16\n"
	".cfi_adjust_cfa_offset -16\n"
	".cfi_restore x30\n"
	"	ret\n"
	".cfi_endproc\n"
	".size outermost, . - outermost\n");
#endif

static long long end_ns;

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

__attribute__((noinline)) static void *work(void *arg)
{
	do {
		outermost(300000, 0, ~WITNESS_MAGIC);
		outermost(3000, 1, ~WITNESS_MAGIC);
	} while (now_ns() < end_ns);
	return arg;
}

int main(int argc, char **argv)
{
	int nr = argc > 2 ? atoi(argv[2]) : 1;
	pthread_t threads[16];

	if (argc < 2 || nr < 1 || nr > 16)
		return 2;
	end_ns = now_ns() + atol(argv[1]) * 1000000LL;
	for (int i = 1; i < nr; i++)
		if (pthread_create(&threads[i], NULL, work, NULL))
			return 1;
	work(NULL);
	for (int i = 1; i < nr; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
