/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libcfi/rule.h"

enum {
	/*
	 * x86-64: at the return to the trampoline the stack pointer is at struct
	 * ucontext, whose registers begin 40 bytes on.  Source:
	 * arch/x86/kernel/signal.c, and sys/ucontext.h for the order.
	 */
	X86_REGS = 40,
	X86_RBP = X86_REGS + 10 * 8,
	X86_RBX = X86_REGS + 11 * 8,
	X86_RSP = X86_REGS + 15 * 8,
	X86_RIP = X86_REGS + 16 * 8,
	/*
	 * arm64: it is at struct rt_sigframe: siginfo (128 bytes), then struct ucontext,
	 * whose registers begin 184 bytes on.  Source: arch/arm64/kernel/signal.c.
	 */
	ARM_REGS = 128 + 184,
	ARM_X29 = ARM_REGS + 29 * 8,
	ARM_X30 = ARM_REGS + 30 * 8,
	ARM_SP = ARM_REGS + 31 * 8,
	ARM_PC = ARM_REGS + 32 * 8,
};

#define AT(off)                                                                          \
	{                                                                                \
		CFI_SAVED, CFI_BY_SP, off                                                \
	}

const struct cfi_rule cfi_signal_rules[] = {
	[CFI_X86_64] = { .kind = CFI_DEREF,
			 .base = CFI_BY_SP,
			 .signal = true,
			 .off = X86_RSP,
			 .saved = { AT(X86_RBP), AT(X86_RIP), AT(X86_RBX) } },
	[CFI_ARM64] = { .kind = CFI_DEREF,
			.base = CFI_BY_SP,
			.signal = true,
			.off = ARM_SP,
			.saved = { AT(ARM_X29), AT(ARM_PC), AT(ARM_X30) } },
};
