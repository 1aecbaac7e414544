/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPK_DEFER_H
#define OPK_DEFER_H

#include <linux/types.h>

struct irq_work;
struct opk_cpu;
struct opk_raw;

/*
 * Samples that the interrupt could not resolve.  A sample of user code waits in a work
 * of its task, which runs before the task returns to user code.  An NMI first hands its
 * samples to an interrupt on the same CPU, which resolves those that it can.
 */

int opk_works_alloc(struct opk_cpu *cpu, unsigned int depth);
void opk_works_free(struct opk_cpu *cpu);

/* Queues a copy of @raw, a sample of current.  0, or the enum opk_lost. */
int opk_defer(struct opk_cpu *cpu, const struct opk_raw *raw, bool nmi);

/* Called by the interrupt that follows an NMI. */
void opk_works_resolve(struct irq_work *work);

/* Begins a run; -EBUSY while works of an earlier one are outstanding. */
int opk_works_begin(void);
/*
 * Ends a run: no more works come, those queued are given some time.  A work that has not
 * run by then is counted as lost, and keeps the module until its task runs or dies.
 */
void opk_works_end(void);

/*
 * At the module's exit.  A work releases the module just before it returns; this waits
 * for works that were preempted between the two.
 */
void opk_works_exit(void);

/* Drops, in process context, what an interrupt may not drop. */
void opk_works_bury(void);

#endif
