// SPDX-License-Identifier: GPL-2.0-or-later
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "source_timer.h"

#include <asm/irq_regs.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/percpu.h>

#include "compat.h"
#include "control.h"
#include "uapi/opfs_buffer.h"

static DEFINE_PER_CPU(struct hrtimer, timer);
static u64 period_ns;

static enum hrtimer_restart expired(struct hrtimer *t)
{
	struct pt_regs *regs = get_irq_regs();

	if (regs)
		opk_add_sample(regs, OPK_COUNTER_TIMER, NULL);
	hrtimer_forward_now(t, ns_to_ktime(period_ns));
	return HRTIMER_RESTART;
}

/* The variable is not exported; its file is. */
u64 opk_max_sample_rate(void)
{
	struct file *file = filp_open("/proc/sys/kernel/perf_event_max_sample_rate",
				      O_RDONLY, 0);
	char text[24] = "";
	loff_t pos = 0;
	u64 rate;

	if (IS_ERR(file))
		return U64_MAX;
	if (kernel_read(file, text, sizeof(text) - 1, &pos) <= 0 ||
	    kstrtoull(strim(text), 10, &rate))
		rate = U64_MAX;
	fput(file);
	return rate;
}

static int setup(void)
{
	u64 max = opk_max_sample_rate();

	if (opk_settings.timer_hz > max) {
		pr_info("timer_hz: at most kernel.perf_event_max_sample_rate, %llu\n", max);
		return -EINVAL;
	}
	period_ns = div64_u64(NSEC_PER_SEC, opk_settings.timer_hz);
	return 0;
}

static int start(unsigned int cpu)
{
	struct hrtimer *t = per_cpu_ptr(&timer, cpu);

	opk_hrtimer_init(t, expired, HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer_start(t, ns_to_ktime(period_ns), HRTIMER_MODE_REL_PINNED_HARD);
	return 0;
}

static void stop(unsigned int cpu)
{
	hrtimer_cancel(per_cpu_ptr(&timer, cpu));
}

struct opk_source opk_source_timer = {
	.name = "timer",
	.owner = THIS_MODULE,
	.setup = setup,
	.start = start,
	.stop = stop,
};
