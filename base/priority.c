// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/priority.h"

#include <sched.h>
#include <sys/resource.h>

#include "base/clock.h"

enum { HIGHEST = -20 }; /* nice value */

int priority_nice(void)
{
	struct rlimit lim;
	int nice;

	/* RLIMIT_NICE is 20 less the nice value that anyone may take */
	if (setpriority(PRIO_PROCESS, 0, HIGHEST) && !getrlimit(RLIMIT_NICE, &lim)) {
		nice = lim.rlim_cur > 40 ? HIGHEST : 20 - (int)lim.rlim_cur;
		if (nice < getpriority(PRIO_PROCESS, 0))
			setpriority(PRIO_PROCESS, 0, nice);
	}
	return getpriority(PRIO_PROCESS, 0);
}

static void set_real_time(struct priority *p, bool on)
{
	const struct sched_param param = { .sched_priority = on ? (int)p->level : 0 };
	int policy = (on ? SCHED_FIFO : SCHED_OTHER) | SCHED_RESET_ON_FORK;

	if (!sched_setscheduler(0, policy, &param))
		p->real_time = on;
}

void priority_raise(struct priority *p, unsigned level)
{
	*p = (struct priority){ .nice = priority_nice(), .level = level };
	if (level)
		set_real_time(p, true);
	if (!p->real_time)
		p->level = 0;
}

void priority_watch(struct priority *p, uint64_t now_ns, uint64_t used_ns)
{
	uint64_t span_ns = now_ns - p->looked_ns, spent_ns = used_ns - p->used_ns;
	bool modest = spent_ns <= span_ns / 2;

	if (!p->level || span_ns < CLOCK_NS_PER_S)
		return;
	p->looked_ns = now_ns;
	p->used_ns = used_ns;
	if (modest != p->real_time)
		set_real_time(p, modest);
}
