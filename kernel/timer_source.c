// SPDX-License-Identifier: GPL-2.0-or-later
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "timer_source.h"

#include <asm/irq_regs.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/percpu.h>

#include "compat.h"
#include "control.h"
#include "guard.h"
#include "resolve.h"
#include "uapi/opfs_buffer.h"

static DEFINE_PER_CPU(struct hrtimer, timer);
static u64 period_ns;
/* Periods from one interrupt to the next, more than 1 where timers go by the tick. */
static u64 step;

static enum hrtimer_restart expired(struct hrtimer *t)
{
	struct pt_regs *regs = get_irq_regs();
	u64 now = regs ? opk_sample(regs, OPK_COUNTER_TIMER, NULL) : 0;
	u64 periods;

	if (!now)
		now = hrtimer_cb_get_time(t);
	/* The clock that was asked may be a little behind the timers'. */
	now = max_t(u64, now, hrtimer_get_expires(t));
	periods = hrtimer_forward(t, now, step * period_ns) * step;
	if (regs && periods > 1)
		opk_add_missed(regs, periods - 1);
	return HRTIMER_RESTART;
}

static int setup(void)
{
	u64 max = opk_guard_max_rate();

	if (opk_settings.timer_hz > max) {
		pr_info("timer_hz: at most kernel.perf_event_max_sample_rate, %llu\n",
			max);
		return -EINVAL;
	}
	period_ns = div64_u64(NSEC_PER_SEC, opk_settings.timer_hz);
	step = DIV_ROUND_UP(hrtimer_resolution, period_ns);
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
