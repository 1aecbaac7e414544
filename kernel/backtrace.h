/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPK_BACKTRACE_H
#define OPK_BACKTRACE_H

#include <linux/types.h>

struct pt_regs;

/* Room that opk_kernel_callers() needs beyond the callers: its own frames. */
enum { OPK_OWN_FRAMES = 48 };

/*
 * The callers of the kernel code that @regs interrupted, innermost first; not the
 * interrupted instruction itself.  @scratch: @max + OPK_OWN_FRAMES entries.  Any context.
 * Returns how many, and sets OPK_TRACE_* in *@flags.
 */
unsigned int opk_kernel_callers(struct pt_regs *regs, unsigned long *callers,
				unsigned int max, unsigned long *scratch,
				unsigned int *flags);

/* A return address without its pointer authentication code. */
unsigned long opk_plain_pc(unsigned long pc);

/* Is that user code of 32 bits? */
bool opk_is_compat(struct pt_regs *regs);

/*
 * The callers of the user code of @regs in current's address space, by frame pointers:
 * each must be aligned, above the one before, and present.  Any context.
 */
unsigned int opk_user_callers(struct pt_regs *regs, unsigned long *callers,
			      unsigned int max, unsigned int *flags);

#endif
