// SPDX-License-Identifier: GPL-2.0-or-later
#include "stats.h"

#include <linux/atomic.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "images.h"
#include "oprofilefs.h"

DEFINE_PER_CPU(struct opk_stats, opk_stats);
static atomic64_t worst_delay_ns;

static const char *const names[OPK_NR_STATS] = {
	[OPK_LOST_OVERFLOW] = "lost_overflow",
	[OPK_LOST_EVENT_OVERFLOW] = "lost_event_overflow",
	[OPK_LOST_NO_MAPPING] = "lost_no_mapping",
	[OPK_LOST_EXITED] = "lost_exited",
	[OPK_LOST_NO_WORK] = "lost_no_work",
	[OPK_LOST_NO_IMAGE] = "lost_no_image",
	[OPK_LOST_STOPPED] = "lost_stopped",
	[OPK_LOST_BAD_PC] = "lost_bad_pc",
	[OPK_LOST_NESTED] = "lost_nested",
	[OPK_LOST_MISSED] = "lost_missed",
	[OPK_LOST_BUSY] = "lost_busy",
	[OPK_STAT_RECEIVED] = "received",
	[OPK_STAT_STORED] = "stored",
	[OPK_STAT_RESOLVED_IRQ] = "resolved_irq",
	[OPK_STAT_RESOLVED_PAGE] = "resolved_page",
	[OPK_STAT_RESOLVED_THREAD] = "resolved_thread",
	[OPK_STAT_RESOLVED_LATE] = "resolved_late",
	[OPK_STAT_NO_APP] = "no_app",
	[OPK_STAT_IDLE] = "idle",
	[OPK_STAT_THROTTLED] = "throttled",
	[OPK_STAT_THROTTLES] = "throttles",
	[OPK_STAT_BT_ABORTED] = "backtrace_aborted",
	[OPK_STAT_BT_NO_MAPPING] = "backtrace_no_mapping",
	[OPK_STAT_BT_NO_USER] = "backtrace_no_user",
	[OPK_STAT_STACK_STORED] = "stack_stored",
	[OPK_STAT_STACK_BUSY] = "stack_busy",
	[OPK_STAT_STACK_STALE] = "stack_stale",
	[OPK_STAT_STACK_UNREADABLE] = "stack_unreadable",
	[OPK_STAT_STACK_NO_ROOM] = "stack_no_room",
	[OPK_STAT_TASK_SWITCHES] = "task_switches",
	[OPK_STAT_TASK_EXITS] = "task_exits",
	[OPK_STAT_HOTPLUG_FAILED] = "hotplug_failed",
	[OPK_STAT_COUNTERS_FAILED] = "counters_failed",
};

/* The i_private of a file packs which figure it shows, and of which CPU, or of all. */
#define ALL_CPUS 0xffff
#define PACK(stat, cpu) ((void *)((unsigned long)(stat) << 16 | (cpu)))

u64 opk_stats_total(unsigned int stat)
{
	u64 sum = 0;
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(opk_stats, cpu).value[stat]);
	return sum;
}

void opk_stats_reset(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(&opk_stats, cpu), 0, sizeof(struct opk_stats));
	atomic64_set(&worst_delay_ns, 0);
}

void opk_stats_delay(u64 ns)
{
	s64 worst = atomic64_read(&worst_delay_ns);

	while ((s64)ns > worst) {
		if (atomic64_try_cmpxchg(&worst_delay_ns, &worst, ns))
			break;
	}
}

/*
 * Figures of the whole machine that are not counted by CPU; numbered behind the others.
 */
static u64 worst_delay(void)
{
	return atomic64_read(&worst_delay_ns);
}

static const struct {
	const char *name;
	u64 (*value)(void);
} whole[] = {
	{ "worst_delay_ns", worst_delay },
	{ "images", opk_images_count },
	{ "images_gone", opk_images_gone },
};

static int stat_show(struct seq_file *seq, void *unused)
{
	unsigned long what = (unsigned long)seq->private;
	unsigned int stat = what >> 16, cpu = what & 0xffff;
	u64 value;

	if (stat >= OPK_NR_STATS)
		value = whole[stat - OPK_NR_STATS].value();
	else if (cpu == ALL_CPUS)
		value = opk_stats_total(stat);
	else
		value = READ_ONCE(per_cpu(opk_stats, cpu).value[stat]);
	seq_printf(seq, "%llu\n", value);
	return 0;
}

OPK_SHOW(stat, NULL);

static int create_set(struct super_block *sb, struct dentry *dir, unsigned int cpu)
{
	unsigned int i;
	int rc;

	for (i = 0; i < OPK_NR_STATS; i++) {
		if (!names[i])
			continue;
		rc = opk_create(sb, dir, names[i], 0444, &stat_fops, PACK(i, cpu));
		if (rc)
			return rc;
	}
	return 0;
}

int opk_stats_create(struct super_block *sb, struct dentry *root)
{
	struct dentry *dir = opk_mkdir(sb, root, "stats"), *sub;
	unsigned int cpu, i;
	char name[16];
	int rc;

	if (IS_ERR(dir))
		return PTR_ERR(dir);
	rc = create_set(sb, dir, ALL_CPUS);
	for (i = 0; i < ARRAY_SIZE(whole) && !rc; i++)
		rc = opk_create(sb, dir, whole[i].name, 0444, &stat_fops,
				PACK(OPK_NR_STATS + i, ALL_CPUS));
	for_each_possible_cpu(cpu) {
		if (rc)
			break;
		snprintf(name, sizeof(name), "cpu%u", cpu);
		sub = opk_mkdir(sb, dir, name);
		rc = IS_ERR(sub) ? PTR_ERR(sub) : create_set(sb, sub, cpu);
	}
	return rc;
}
