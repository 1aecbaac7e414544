/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPK_RESOLVE_H
#define OPK_RESOLVE_H

#include <linux/types.h>

#include "backtrace.h"
#include "opfs_source.h"
#include "record.h"

struct mm_struct;

/* A sample as the interrupt finds it: addresses, and the task that ran. */
struct opk_raw {
	u64 pc;
	struct opk_task task;
	struct mm_struct *mm; /* current's; compared, never followed */
	struct opk_ext ext;   /* nr_regs 0: none */
	bool kernel;
	u8 counter;
	u8 chain_flags; /* OPK_TRACE_* */
	u8 nr_kernel, nr_user;
	unsigned long frames[OPK_MAX_DEPTH]; /* nr_kernel, then nr_user */
};

/* Scratch memory of an interrupt; too large for its stack. */
struct opk_scratch {
	bool busy;
	struct opk_raw raw;
	unsigned long stack[OPK_MAX_DEPTH + OPK_OWN_FRAMES];
	u64 words[OPK_REC_WORDS];
};

/*
 * Makes a record of a sample.  @mm: the address space of its user addresses, locked for
 * reading; NULL: user frames are left out.  Not in an NMI.  @words: OPK_REC_WORDS.
 * Returns the number of words written, or a negative enum opk_lost.
 */
int opk_resolve(const struct opk_raw *raw, struct mm_struct *mm, u64 *words);

struct opk_cpu;

/*
 * In an interrupt of this CPU (not an NMI), for a sample of current: resolves it if the
 * lock is free, and stores it, or counts why it is lost.  false: the lock is taken.
 */
bool opk_store_now(struct opk_cpu *cpu, struct opk_raw *raw, u64 *words);

/* The same without the lock: a kernel sample is stored without its user frames. */
void opk_store_unresolved(struct opk_cpu *cpu, struct opk_raw *raw, u64 *words);

/* Describes the current task, all but its application. */
void opk_take_task(struct opk_task *task);

#endif
