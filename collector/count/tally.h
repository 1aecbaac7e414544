/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_COUNT_TALLY_H
#define COLLECTOR_COUNT_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/ids.h"
#include "base/vec.h"
#include "collector/source/perf_open.h"

/* Counters: of each place (a thread, or a CPU) one for each event. */

struct coll_counted {
	struct coll_event event;
	char *label; /* the event's name, and what else was given of it; heap */
};

struct coll_counted_events {
	struct coll_counted *data;
	size_t len, cap;
};

/* What was counted in some time. */
struct coll_count {
	uint64_t count;            /* estimated, if it was not counted all the time */
	uint64_t raw;              /* what was counted */
	uint64_t enabled, running; /* ns it was to be counted, and was; summed */
};

struct coll_tally {
	struct coll_counted_events *events; /* borrowed */
	struct ids places;
	VEC(int) fds; /* all events of the first place, then of the next */
	/* in the same order: since the beginning, and between the last two takes */
	VEC(struct coll_perf_value) so_far;
	VEC(struct coll_count) counts;
};

struct coll_tally_want {
	struct coll_counted_events *events; /* user_only may be set in them */
	const struct ids *places;
	bool cpus;             /* they are CPUs, else threads */
	bool inherit, on_exec; /* of threads */
};

/**
 * coll_tally_open - opens what counts, stopped
 * A thread that has ended meanwhile is left out, unless it is the last one.
 * Returns 0, or -errno with what to do about it.
 */
int coll_tally_open(struct coll_tally *t, const struct coll_tally_want *want,
		    struct err *err);
/* Counts from now on.  Not with @on_exec, which does that itself. */
int coll_tally_start(struct coll_tally *t, struct err *err);
/* Makes @counts what was counted since the last time, or the start. */
void coll_tally_take(struct coll_tally *t);
void coll_tally_fini(struct coll_tally *t);

const struct coll_count *coll_tally_at(const struct coll_tally *t, size_t event,
				       size_t place);
/* Of all places: the sum of their counts. */
struct coll_count coll_tally_total(const struct coll_tally *t, size_t event);

/**
 * coll_count_of - what a counter says
 * @value: of an interval.  Where the kernel took turns between more events than there are
 *	counters, the count is scaled up to all of the time.  Software is always counted:
 *	it is never scaled, so that no rounding changes it.
 */
struct coll_count coll_count_of(const struct coll_perf_value *value, bool hardware);
/* For how much of the time it was counted. */
double coll_count_percent(const struct coll_count *c);
/* It should have been counted, and never was. */
bool coll_count_missing(const struct coll_count *c);

#endif
