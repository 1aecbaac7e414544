// SPDX-License-Identifier: GPL-2.0-or-later
#include "backtrace.h"

#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/stacktrace.h>
#include <linux/uaccess.h>

#include "uapi/opfs_buffer.h"

unsigned int opk_kernel_callers(struct pt_regs *regs, unsigned long *callers,
				unsigned int max, unsigned long *scratch,
				unsigned int *flags)
{
	unsigned long ip = instruction_pointer(regs);
	unsigned int n, i, found = 0;

	/* Our own frames come first, then those of the interrupt, then what it hit. */
	n = stack_trace_save(scratch, max + OPK_OWN_FRAMES, 0);
	for (i = 0; i < n && scratch[i] != ip; i++)
		;
	if (i == n) {
		*flags |= OPK_TRACE_ABORTED;
		return 0;
	}
	for (i++; i < n && found < max; i++)
		callers[found++] = scratch[i];
	if (i < n)
		*flags |= OPK_TRACE_FULL;
	return found;
}

/*
 * Without a pointer authentication code, which takes the bits that addresses of this CPU
 * do not use: a kernel built for 52 bits runs on CPUs of 48.
 */
unsigned long opk_plain_pc(unsigned long pc)
{
#ifdef CONFIG_ARM64
	return pc & (TASK_SIZE_64 - 1);
#else
	return pc;
#endif
}

/* What a frame pointer points to: the caller's frame pointer and the return address. */
struct frame {
	unsigned long next, pc;
};

static bool wide_frame(unsigned long fp, struct frame *frame)
{
	unsigned long words[2];

	if (fp % sizeof(words[0]) ||
	    copy_from_user_nofault(words, (const void __user *)fp, sizeof(words)))
		return false;
	frame->next = words[0];
	frame->pc = opk_plain_pc(words[1]);
	return true;
}

#ifdef CONFIG_X86
bool opk_is_compat(struct pt_regs *regs)
{
	return !user_64bit_mode(regs);
}

static bool compat_frame(unsigned long fp, struct frame *frame)
{
	u32 words[2];

	if (fp % sizeof(words[0]) ||
	    copy_from_user_nofault(words, (const void __user *)fp, sizeof(words)))
		return false;
	frame->next = words[0];
	frame->pc = words[1];
	return true;
}
#else
bool opk_is_compat(struct pt_regs *regs)
{
	return compat_user_mode(regs);
}

/* 32-bit ARM has no common layout of frames. */
static bool compat_frame(unsigned long fp, struct frame *frame)
{
	return false;
}
#endif

unsigned int opk_user_callers(struct pt_regs *regs, unsigned long *callers,
			      unsigned int max, unsigned int *flags)
{
	bool (*read)(unsigned long fp, struct frame *frame);
	unsigned long fp = frame_pointer(regs);
	struct frame frame;
	unsigned int n = 0;

	read = opk_is_compat(regs) ? compat_frame : wide_frame;
	if (fp && fp < user_stack_pointer(regs)) {
		*flags |= OPK_TRACE_ABORTED;
		return 0;
	}
	while (fp) {
		if (n == max) {
			*flags |= OPK_TRACE_FULL;
			break;
		}
		if (!read(fp, &frame)) {
			*flags |= OPK_TRACE_ABORTED;
			break;
		}
		if (!frame.pc)
			break;
		/*
		 * It is good even if the caller used its frame pointer for something
		 * else, as libc's start code does.
		 */
		callers[n++] = frame.pc;
		if (frame.next && frame.next <= fp) {
			*flags |= OPK_TRACE_ABORTED;
			break;
		}
		fp = frame.next;
	}
	return n;
}
