/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPK_GUARD_H
#define OPK_GUARD_H

#include <linux/types.h>

/*
 * Keeps sampling from taking over a CPU, whatever its source: no more samples a second
 * than kernel.perf_event_max_sample_rate allows, and no more than a quarter of the CPU's
 * time. There is one for each CPU, used on that CPU only, by interrupts and by NMIs that
 * interrupt them.  Such an NMI may let one sample too many pass, or lose track of the
 * time that one took, but nothing worse.
 */
struct opk_guard {
	u64 window_ns, busy_ns; /* start of the window, and time spent in it */
	u64 next_ns;            /* when the next sample is due at the highest rate */
	bool closed;            /* until the end of the window */
	bool ahead;             /* a sample came too early in this window */
};

/*
 * Looks kernel.perf_event_max_sample_rate up, and applies it from now on.  Process
 * context; the file is read by a kernel thread, so that neither the caller's root nor
 * its namespaces matter.
 */
void opk_guard_begin(void);
/*
 * The same for the worker, which is such a thread, once a second at most: perf lowers the
 * rate where interrupts take long.
 */
void opk_guard_refresh(void);

/* The rate that is applied. */
u64 opk_guard_max_rate(void);

/* True if a sample may be taken at @now; otherwise it has been counted as throttled. */
bool opk_guard_lets(struct opk_guard *guard, u64 now);
/* Accounts for the time from @begin until now, spent on samples; returns it, in ns. */
u64 opk_guard_spent(struct opk_guard *guard, u64 begin);

#endif
