/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPK_GUARD_H
#define OPK_GUARD_H

#include <linux/types.h>

/*
 * Keeps sampling from taking over a CPU, whatever its source: no more samples a second
 * than kernel.perf_event_max_sample_rate, and no more than a quarter of the time.  One a
 * CPU, used on it only, by interrupts and by NMIs in the middle of them; such a one may
 * let a sample too many through, or forget what one has taken, but nothing worse.
 */
struct opk_guard {
	u64 window_ns, busy_ns; /* start of the window; time spent in it */
	u64 next_ns;		/* when a sample is due at the highest rate */
	bool closed;		/* until the window is over */
	bool ahead;		/* a sample came too early in this window */
};

/* kernel.perf_event_max_sample_rate as it is now.  Process context. */
u64 opk_guard_max_rate(void);
/*
 * Keeps to that rate from now on; opk_guard_refresh() now and then during a run, for it
 * may change: perf itself lowers it on a machine that takes interrupts slowly.  Process
 * context.
 */
void opk_guard_begin(void);
void opk_guard_refresh(void);

/* May a sample be taken at @now?  If not, it has been counted. */
bool opk_guard_lets(struct opk_guard *guard, u64 now);
/* Something was done for samples from @begin until now. */
void opk_guard_spent(struct opk_guard *guard, u64 begin);

#endif
