/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPK_STATS_H
#define OPK_STATS_H

#include <linux/percpu.h>
#include <linux/types.h>

#include "uapi/opfs_buffer.h"

/*
 * Figures of a run, one set a CPU.  Any context may count, NMIs too; readers add them
 * up. The first OPK_NR_LOST are losses, by enum opk_lost.
 */
enum opk_stat {
	OPK_STAT_RECEIVED = OPK_NR_LOST, /* samples taken */
	OPK_STAT_STORED,                 /* samples written to the event buffer */
	OPK_STAT_RESOLVED_IRQ,           /* user samples resolved in the interrupt */
	OPK_STAT_RESOLVED_PAGE,   /* the same, by their pages: the lock was taken */
	OPK_STAT_RESOLVED_THREAD, /* user samples resolved by the driver's threads */
	OPK_STAT_RESOLVED_LATE,   /* samples that are marked OPK_EVENT_LATE */
	OPK_STAT_NO_APP,        /* samples of processes whose application is not known */
	OPK_STAT_IDLE,          /* interrupts of an idle CPU: no samples */
	OPK_STAT_THROTTLED,     /* interrupts that the rate guard let pass: no samples */
	OPK_STAT_THROTTLES,     /* times that the rate guard, or perf, cut in */
	OPK_STAT_BT_ABORTED,    /* call chains cut short by a bad frame pointer */
	OPK_STAT_BT_NO_MAPPING, /* frames left out: no mapping known */
	OPK_STAT_BT_NO_USER,    /* kernel samples that go without their user frames */
	OPK_STAT_STACK_STORED,  /* samples in the event buffer with a user's stack */
	/* Samples of which a user's stack was wanted and is not given, by reason. */
	OPK_STAT_STACK_BUSY,       /* the lock of the address space was taken */
	OPK_STAT_STACK_STALE,      /* the thread had gone on */
	OPK_STAT_STACK_UNREADABLE, /* no stack there that can be read */
	OPK_STAT_STACK_NO_ROOM,    /* in the buffers, or for its images */
	OPK_STAT_TASK_SWITCHES,    /* task switches recorded */
	OPK_STAT_TASK_EXITS,       /* tasks that exited */
	OPK_STAT_HOTPLUG_FAILED,   /* CPUs that came online and could not be sampled */
	OPK_STAT_COUNTERS_FAILED,  /* counters that were taken away during the run */
	OPK_NR_STATS
};

struct opk_stats {
	unsigned long value[OPK_NR_STATS];
};

DECLARE_PER_CPU(struct opk_stats, opk_stats);

static inline void opk_count(unsigned int stat)
{
	this_cpu_inc(opk_stats.value[stat]);
}

static inline void opk_count_many(unsigned int stat, unsigned long n)
{
	this_cpu_add(opk_stats.value[stat], n);
}

/*
 * Counts for a CPU from any other.  Whoever counts the same figure, on that CPU too, has
 * to be kept away meanwhile.
 */
static inline void opk_count_of(unsigned int cpu, unsigned int stat)
{
	per_cpu(opk_stats, cpu).value[stat]++;
}

u64 opk_stats_total(unsigned int stat);
/* Sets all figures to 0; not while anything counts. */
void opk_stats_reset(void);

/*
 * Notes for how long a sampled thread was held up by its sample; the longest time is
 * kept.  Any context.
 */
void opk_stats_delay(u64 ns);

struct super_block;
struct dentry;
int opk_stats_create(struct super_block *sb, struct dentry *root);

#endif
