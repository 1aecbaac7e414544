/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/priority.h"

#include <errno.h>
#include <sys/resource.h>

enum { HIGHEST = -20 };

int coll_priority_raise(void)
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
