/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPK_USER_STACK_H
#define OPK_USER_STACK_H

#include <linux/types.h>

struct opk_cpu;
struct opk_raw;
struct pt_regs;

/*
 * A copy of the stack of a sampled thread, and what lets others find its callers there:
 * its registers, and the executable ranges of the address space that words of the copy
 * point into.  All is of the moment of the sample: it is copied in the interrupt that
 * took the sample, in the one that follows an NMI if the registers are the same there, or
 * by the CPU's thread if the sampled one has not run in between.
 */

/* Words that a record needs for a stack of so many bytes. */
unsigned int opk_stack_words(u64 bytes);

/*
 * Notes the registers in user mode of current, whose sample that is, if it has such;
 * @regs: those of the sample.  Any context.
 */
void opk_stack_want(struct opk_raw *raw, struct pt_regs *regs);

/* In the interrupt that follows an NMI: is current where that found it? */
bool opk_stack_is_there(const struct opk_raw *raw);

/* The stack of a sample, if it is wanted, cannot be given; @why: enum opk_stat. */
void opk_stack_refuse(struct opk_raw *raw, unsigned int why);

/*
 * Copies the stack of a sample whose address space is in use, and whose lock the caller
 * holds: in an interrupt, or the CPU's thread; an RCU reader.  Takes no fault.
 * @words: opk_stack_words() of the setting.  Returns the number of words written, 0 if
 * there is no stack (raw->no_stack tells why).
 */
unsigned int opk_stack_pack(struct opk_cpu *cpu, struct opk_raw *raw, u64 *words);

#endif
