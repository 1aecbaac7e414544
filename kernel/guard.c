// SPDX-License-Identifier: GPL-2.0-or-later
#include "guard.h"

#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>

#include "stats.h"

enum { WINDOW_NS = 20 * NSEC_PER_MSEC, SHARE = 4 };

enum { USUAL_RATE = 100000 }; /* the kernel's own default */
static u64 max_rate = USUAL_RATE;
static u64 period_ns;           /* between samples at that rate */
static unsigned long refreshed; /* in jiffies */

/*
 * The variable is not exported, so the file in /proc is read.  The last value stays if it
 * cannot be.
 */
static void look_up(struct work_struct *unused)
{
	struct file *file =
		filp_open("/proc/sys/kernel/perf_event_max_sample_rate", O_RDONLY, 0);
	char text[24] = "";
	loff_t pos = 0;
	u64 rate;

	if (!IS_ERR(file)) {
		if (kernel_read(file, text, sizeof(text) - 1, &pos) > 0 &&
		    !kstrtoull(strim(text), 10, &rate))
			WRITE_ONCE(max_rate, max(rate, 1ULL));
		fput(file);
	}
	WRITE_ONCE(period_ns, div64_u64(NSEC_PER_SEC, max_rate));
	refreshed = jiffies;
}

static DECLARE_WORK(work, look_up);

u64 opk_guard_max_rate(void)
{
	return READ_ONCE(max_rate);
}

void opk_guard_begin(void)
{
	schedule_work(&work);
	flush_work(&work);
}

void opk_guard_refresh(void)
{
	if (time_after_eq(jiffies, refreshed + HZ))
		look_up(NULL);
}

/*
 * A sample may come early by as much as interrupts are delayed, so that a timer of
 * exactly the highest rate passes.
 */
static bool too_early(struct opk_guard *guard, u64 now)
{
	u64 period = READ_ONCE(period_ns);
	bool early = (s64)(guard->next_ns - now) > (s64)(WINDOW_NS + period);

	if (!early) {
		guard->next_ns = max(guard->next_ns, now) + period;
		return false;
	}
	if (!guard->ahead)
		opk_count(OPK_STAT_THROTTLES);
	guard->ahead = true;
	return true;
}

/* The time spent in samples stays below its share of each window. */
static bool too_long(struct opk_guard *guard, u64 now)
{
	/* An NMI may have begun a window later than @now. */
	if ((s64)(now - guard->window_ns) >= WINDOW_NS) {
		guard->window_ns = now;
		guard->busy_ns = 0;
		guard->closed = false;
		guard->ahead = false;
	}
	return guard->closed;
}

bool opk_guard_lets(struct opk_guard *guard, u64 now)
{
	if (!too_long(guard, now) && !too_early(guard, now))
		return true;
	opk_count(OPK_STAT_THROTTLED);
	return false;
}

u64 opk_guard_spent(struct opk_guard *guard, u64 begin)
{
	u64 spent = ktime_get_mono_fast_ns() - begin;

	guard->busy_ns += spent;
	if (guard->busy_ns > WINDOW_NS / SHARE && !guard->closed) {
		guard->closed = true;
		opk_count(OPK_STAT_THROTTLES);
	}
	return spent;
}
