// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For tests only: whenever a task is about to call a function of the driver, its CPU is
 * kept busy for so long that whoever wants it next gets it right there.  Does not load
 * where the driver has no such function, or the kernel no kprobes.  Never installed.
 */
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/preempt.h>

static char *function = "";
module_param(function, charp, 0444);
MODULE_PARM_DESC(function, "opfs_sampler:NAME");

static unsigned int ms = 2;
module_param(ms, uint, 0444);
MODULE_PARM_DESC(ms, "How long");

static unsigned int paused;
module_param(paused, uint, 0444);
MODULE_PARM_DESC(paused, "How often so far");

static int pause(struct kprobe *probe, struct pt_regs *regs)
{
	if (in_task()) {
		paused++;
		mdelay(ms);
	}
	return 0;
}

static struct kprobe probe = { .pre_handler = pause };

static int __init opfs_pause_init(void)
{
	probe.symbol_name = function;
	return register_kprobe(&probe);
}
module_init(opfs_pause_init);

static void __exit opfs_pause_exit(void)
{
	unregister_kprobe(&probe);
}
module_exit(opfs_pause_exit);

MODULE_DESCRIPTION("Tasks lose their CPU where it matters, for testing opfs_sampler");
MODULE_LICENSE("GPL");
