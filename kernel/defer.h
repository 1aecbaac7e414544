/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPK_DEFER_H
#define OPK_DEFER_H

#include <linux/types.h>

struct irq_work;
struct opk_cpu;
struct opk_raw;

/*
 * Samples of user code that the interrupt could not resolve, since the lock of their
 * address space was taken, or may not be tried in an interrupt at all (PREEMPT_RT).  A
 * thread of the driver's, one a CPU, before which nothing else runs there, does it: it
 * preempts the sampled thread before that goes on.  An NMI first hands its samples to an
 * interrupt on the same CPU, which resolves those that it can.
 */

int opk_works_alloc(struct opk_cpu *cpu, unsigned int depth);
void opk_works_free(struct opk_cpu *cpu);

/* Queues a copy of @raw, a sample of current.  0, or the enum opk_lost. */
int opk_defer(struct opk_cpu *cpu, const struct opk_raw *raw, bool nmi);

/* Called by the interrupt that follows an NMI. */
void opk_works_resolve(struct irq_work *work);

/* Begins a run: starts the threads.  0 or -errno. */
int opk_works_begin(void);
/*
 * Ends a run, after the last sample: waits for the threads, which takes no longer than a
 * sample may wait.  What is left then is counted as lost.
 */
void opk_works_end(void);

/* The synchroniser's: lets address spaces go whose last user was a thread of ours. */
void opk_works_bury(void);

#endif
