/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPK_DEFER_H
#define OPK_DEFER_H

#include <linux/types.h>

struct irq_work;
struct opk_cpu;
struct opk_raw;

/*
 * Samples that the interrupt could not resolve.  A sample of user code waits in a work
 * of its task, which runs before the task runs user code again.  An NMI hands its
 * samples to an interrupt of the same CPU first, which does what an interrupt can do.
 */

int opk_works_alloc(struct opk_cpu *cpu, unsigned int depth);
void opk_works_free(struct opk_cpu *cpu);

/* Takes a copy of @raw, a sample of current.  0, or the enum opk_lost. */
int opk_defer(struct opk_cpu *cpu, const struct opk_raw *raw, bool nmi);

/* The interrupt that follows an NMI. */
void opk_works_resolve(struct irq_work *work);

/* Of a run: begin fails with -EBUSY while works of an earlier one have not run. */
int opk_works_begin(void);
/*
 * No more works come; waits some time for those that are queued.  What has not run by
 * then is counted as lost, and keeps the module until its task runs or dies.
 */
void opk_works_end(void);

/*
 * At the module's end: a work gives the module back before it returns; whoever was
 * preempted between the two has to be out of its text.
 */
void opk_works_exit(void);

/* Drops what an interrupt could not: in process context. */
void opk_works_bury(void);

#endif
