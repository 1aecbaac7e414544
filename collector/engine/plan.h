/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_ENGINE_PLAN_H
#define COLLECTOR_ENGINE_PLAN_H

#include "collector/engine/options.h"
#include "collector/store/sink.h"

/*
 * From the events asked for to the events sampled: the default event, how often, and
 * what sample files say of them.
 */
struct coll_plan {
	/* one for each event, in order, then for each derived one; heap */
	struct coll_sink_event *sink;
};

/**
 * coll_plan - completes the events of @o
 * Returns 0, or -EINVAL for a rate above what the kernel allows, and for two events that
 * would be counted in one file; -EBUSY for events that have no counters together.
 */
int coll_plan_init(struct coll_plan *p, struct coll_options *o, struct err *err);
void coll_plan_fini(struct coll_plan *p);

/* The frequency of the first processor, as /proc/cpuinfo has it; 0: it has none. */
double coll_cpu_mhz(void);

#endif
