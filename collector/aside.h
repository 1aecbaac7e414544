/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_ASIDE_H
#define COLLECTOR_ASIDE_H

/*
 * Work that may never end, done by another thread: a profiled process can map files of a
 * network or user-space file system that does not answer, and /proc waits for a process
 * that waits for such a one.  The collector must not.
 */
enum { COLL_ASIDE_MS = 200 }; /* how long the collector waits for somebody else's file */

/**
 * coll_aside - does something in another thread and waits for it, but not for ever
 * @work: gets @job; must not touch anything that is not the job's
 * @drop: frees a job that nobody waits for any more; called by the other thread
 * Returns 0 when it is done (the job is the caller's again), -ETIMEDOUT if it is not done
 * after @ms milliseconds: the job then belongs to the other thread.  -EAGAIN if too many
 * threads wait in vain already, or there is no other thread: nothing was done, and the
 * job is the caller's.
 */
int coll_aside(void (*work)(void *job), void (*drop)(void *job), void *job, int ms);

/* How many threads wait in vain now. */
unsigned coll_aside_stuck(void);

#endif
