/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_PRIORITY_H
#define BASE_PRIORITY_H

#include <stdbool.h>
#include <stdint.h>

/*
 * How soon the calling thread runs on a busy machine.  A nice value counts among the
 * processes of one session or control group only: who makes many of those has most of the
 * machine.  Real time comes before all of them.
 */
struct priority {
	int nice;       /* the value that the thread has */
	unsigned level; /* of SCHED_FIFO, as wanted; 0: none */
	bool real_time; /* it has that now */
	uint64_t looked_ns, used_ns;
};

enum { PRIORITY_MAX = 99 };

/* Takes the best nice value that this thread may have, and returns it.  What it starts
 * from then on has it too. */
int priority_nice(void);

/**
 * priority_raise - takes the best nice value, and real time, as far as allowed
 * @level: of SCHED_FIFO, 1 to PRIORITY_MAX; 0: no real time
 * With real time, what the thread starts has neither.
 */
void priority_raise(struct priority *p, unsigned level);

/**
 * priority_watch - takes real time away from a thread that uses more than half of a
 * processor, and gives it back after a second in which it did not
 * @now_ns: CLOCK_MONOTONIC
 * @used_ns: the processor time that the thread has used, ever
 * To be called now and then, by that thread.
 */
void priority_watch(struct priority *p, uint64_t now_ns, uint64_t used_ns);

#endif
