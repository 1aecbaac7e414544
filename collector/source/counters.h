/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_SOURCE_COUNTERS_H
#define COLLECTOR_SOURCE_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "collector/source/perf_open.h"

/* Are there counters for all events at a time? */

/**
 * coll_counters_check - by what tables of events know
 * Returns 0, or -EBUSY with which events cannot be counted together.  Without counters
 * that the kernel drives nothing is refused: opening the events tells better why.
 */
int coll_counters_check(const struct coll_event *events, size_t nr, struct err *err);

/**
 * coll_counters_note - by what the kernel says
 * Opens the events as one group, which must be counted at a time or not at all.
 * @note: says, if that is refused, which event was, and who else may hold counters; else
 *	it is left alone; 256 bytes
 */
void coll_counters_note(const struct coll_event *events, size_t nr, char note[256]);

/* For how long an event was to be counted and was, in nanoseconds, summed over threads,
 * or over CPUs where these are sampled whole. */
struct coll_share {
	uint64_t enabled, running;
};

/*
 * What the kernel says of one descriptor, in nanoseconds, with all that inherited from
 * it.  A thread's event is opened once for each CPU: all of them are enabled whenever the
 * thread runs, and that of the CPU where it does is the one that is counted.
 */
struct coll_reading {
	size_t event;
	long whose; /* the thread, or the CPU that is sampled whole */
	uint64_t enabled, running;
};

/* Sums the readings of an event, as many as there are; brings them into another order. */
void coll_share_sum(struct coll_reading *readings, size_t nr, size_t event,
		    struct coll_share *out);

/* Says for which share of the time an event was counted, unless that is all of it. */
void coll_share_tell(const char *event, const struct coll_share *s);

#endif
