/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_SOURCE_ALARM_H
#define COLLECTOR_SOURCE_ALARM_H

#include <stdbool.h>

#include "base/ids.h"
#include "base/vec.h"

/*
 * Wakes who waits when a program begins on some CPU, so that rings need not be looked at
 * while nothing happens.  Each CPU has an event of its own for that, which reports
 * names of tasks into a ring that nobody reads.
 */
struct coll_alarm {
	int epoll; /* readable: a program began, or a ring fills; -1: there is no alarm */
	VEC(int) fds;
	VEC(void *) rings;
};

/* @rings: an epoll descriptor that is waited for as well.  Where a CPU's event cannot be
 * had, there is no alarm. */
void coll_alarm_init(struct coll_alarm *a, int rings, const struct ids *cpus);
void coll_alarm_fini(struct coll_alarm *a); /* accepts { -1 } */

/* Takes what descriptors in @epoll told, where each is told once; -1: there is none.
 * True if there was anything. */
bool coll_forget_wakeups(int epoll);

#endif
