/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPK_RESOLVE_H
#define OPK_RESOLVE_H

#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/uidgid.h>

#include "backtrace.h"
#include "opfs_source.h"
#include "record.h"

struct mm_struct;
struct pt_regs;
struct vm_area_struct;

enum opk_stack {
	OPK_STACK_NONE,    /* not asked for, or the task has none */
	OPK_STACK_WANTED,  /* as long as the thread is where it was sampled */
	OPK_STACK_REFUSED, /* has not been had, and cannot be had any more */
};

/* A sample as the interrupt finds it: addresses, and the task that ran. */
struct opk_raw {
	u64 pc;
	struct opk_task task;
	struct mm_struct *mm; /* current's; NULL: it has none */
	kuid_t user;          /* current's; invalid as long as that is current */
	struct opk_ext ext;   /* nr_regs 0: none */
	bool kernel;
	bool process; /* not a thread of the kernel's */
	u8 counter;
	u8 chain_flags; /* OPK_TRACE_* */
	u8 nr_kernel, nr_user;
	u8 stack;            /* enum opk_stack */
	u8 no_stack;         /* why it is not given: enum opk_stat */
	u16 stack_at;        /* where it begins in the record, if that has it */
	struct pt_regs regs; /* in user mode, unless OPK_STACK_NONE */
	unsigned long frames[OPK_MAX_DEPTH]; /* nr_kernel, then nr_user */
};

/* Scratch memory of an interrupt; too large for its stack. */
struct opk_scratch {
	bool busy;
	struct opk_raw raw;
	unsigned long stack[OPK_MAX_DEPTH + OPK_OWN_FRAMES];
	u64 words[]; /* OPK_REC_WORDS, and, if for interrupts, a stack's */
};

struct opk_cpu;

/* How user addresses are looked up. */
enum opk_by {
	OPK_BY_MAPPING, /* whoever calls holds the lock of raw->mm for reading */
	OPK_BY_PAGE,    /* of current, see pages.h; needs no lock */
	OPK_BY_NOTHING, /* not at all: user frames are left out */
};

/*
 * Makes a record of a sample, and finds its application if that is not known yet.  On
 * this CPU, not in an NMI.  @words: OPK_REC_WORDS, and by mapping a stack's beside.
 * Returns the number of words written, or a negative enum opk_lost; OPK_LOST_BUSY: not
 * all of it is known by pages.  A stack that is wanted is copied by mapping only, from
 * the address space that is in use.
 */
int opk_resolve(struct opk_cpu *cpu, struct opk_raw *raw, enum opk_by by, u64 *words);

/*
 * The place of an address in a mapping, of which the caller holds the lock.  0, or a
 * negative enum opk_lost.
 */
int opk_place_in(struct opk_cpu *cpu, const struct opk_raw *raw,
		 struct vm_area_struct *vma, unsigned long pc, struct opk_place *place);

/*
 * In an interrupt of this CPU (not an NMI), for a sample of current: resolves it without
 * waiting, and stores it, or counts why it is lost.  @late: an NMI took it before.
 * false: the lock is taken, and not all of it is known by pages.
 */
bool opk_store_now(struct opk_cpu *cpu, struct opk_raw *raw, u64 *words, bool late);

/* The same without the lock: a kernel sample is stored without its user frames. */
void opk_store_unresolved(struct opk_cpu *cpu, struct opk_raw *raw, u64 *words);

/*
 * Puts a record into this CPU's buffer, with interrupts off; a negative @len is a loss to
 * be counted.  @by: the figure that counts user samples which were resolved like this.
 */
void opk_store(struct opk_cpu *cpu, struct opk_raw *raw, u64 *words, int len,
	       unsigned int by);

/*
 * opk_add_sample(), for those that want to know what time it is afterwards: by
 * CLOCK_MONOTONIC, in ns, 0 if nobody looked.
 */
u64 opk_sample(struct pt_regs *regs, unsigned int counter, const struct opk_ext *ext);

/* Describes the current task, all but its application.  Preemption is off. */
static inline void opk_take_task(struct opk_task *task)
{
	task->tid = current->pid;
	task->tgid = current->tgid;
	task->exec = current->self_exec_id;
	task->start_ns = current->start_time;
	task->parent = rcu_dereference_sched(current->real_parent)->tgid;
	memcpy(task->comm, current->comm, sizeof(task->comm));
	BUILD_BUG_ON(sizeof(current->comm) != sizeof(task->comm));
	task->app = 0;
}

#endif
