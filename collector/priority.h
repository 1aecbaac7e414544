/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_PRIORITY_H
#define COLLECTOR_PRIORITY_H

/*
 * A profiler is started on machines that are too busy, and must not wait in their queue:
 * rings fill up meanwhile, and processes end that were to be looked at.
 */

/* Raises the priority of the calling thread, and of what it starts from now on, as far as
 * that is allowed.  Returns the nice value it has then. */
int coll_priority_raise(void);

#endif
