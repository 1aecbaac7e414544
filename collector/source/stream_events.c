/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/source/stream_events.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* OProfile's numbers of processor types: doc/internals.md "Sample files". */
enum { CPU_TIMER = 4, CPU_FAMILY10 = 35, CPU_X86_GENERIC = 69 };

enum { MAX_COUNTERS = 64 };

/* perf's general events, by number. */
static const char *const generic[] = {
	[PERF_COUNT_HW_CPU_CYCLES] = "cycles",
	[PERF_COUNT_HW_INSTRUCTIONS] = "instructions",
	[PERF_COUNT_HW_CACHE_REFERENCES] = "cache-references",
	[PERF_COUNT_HW_CACHE_MISSES] = "cache-misses",
	[PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = "branches",
	[PERF_COUNT_HW_BRANCH_MISSES] = "branch-misses",
	[PERF_COUNT_HW_BUS_CYCLES] = "bus-cycles",
	[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] = "stalled-cycles-frontend",
	[PERF_COUNT_HW_STALLED_CYCLES_BACKEND] = "stalled-cycles-backend",
	[PERF_COUNT_HW_REF_CPU_CYCLES] = "ref-cycles",
};

enum { NR_GENERIC = sizeof(generic) / sizeof(generic[0]) };

void coll_stream_events_describe(const struct coll_ext_event *e,
				 struct coll_sink_event *out)
{
	*out = (struct coll_sink_event){ .name = e->name,
					 .count = e->count,
					 .unit_mask = e->unit_mask,
					 .cpu_type = CPU_FAMILY10,
					 .code = e->code };
}

int coll_stream_events_init(struct coll_stream_events *t, const struct coll_ext *ext,
			    struct err *err)
{
	*t = (struct coll_stream_events){ 0 };
	t->events = calloc(ext->events.len + MAX_COUNTERS, sizeof(*t->events));
	if (!t->events)
		return err_errno(err, -ENOMEM, "events");
	vec_for(&ext->events, e)
		coll_stream_events_describe(e, &t->events[t->nr++]);
	return 0;
}

void coll_stream_events_fini(struct coll_stream_events *t)
{
	free(t->events);
	arena_fini(&t->mem);
	*t = (struct coll_stream_events){ 0 };
}

static const char *name_of(struct coll_stream_events *t, const struct coll_counter *c)
{
	char raw[32];

	if (c->timer)
		return "TIMER";
	if (c->perf_type == PERF_TYPE_HARDWARE && c->config < NR_GENERIC)
		return generic[c->config];
	snprintf(raw, sizeof(raw), "r%" PRIx64, c->config | c->extra);
	return arena_strdup(&t->mem, raw);
}

int coll_stream_events_add(void *ctx, const struct coll_counter *c)
{
	struct coll_stream_events *t = ctx;
	const char *name = name_of(t, c);
	struct coll_sink_event e = { .name = name,
				     .count = c->count,
				     .unit_mask = c->unit_mask,
				     .cpu_type = c->timer ? CPU_TIMER : CPU_X86_GENERIC };

	if (!name)
		return -ENOMEM;
	/* a header has 32 bits for each */
	e.count = e.count < UINT32_MAX ? e.count : UINT32_MAX;
	e.unit_mask &= UINT32_MAX;
	e.code = c->timer ? 0 : (uint32_t)(c->config & 0xff);
	for (uint32_t i = 0; i < t->nr; i++)
		if (!strcmp(t->events[i].name, name) && t->events[i].count == e.count &&
		    t->events[i].unit_mask == e.unit_mask)
			return (int)i;
	/* what is behind the derived events is of streams */
	if (t->nr_counters == MAX_COUNTERS)
		return -ENOSPC;
	t->nr_counters++;
	t->events[t->nr] = e;
	return (int)t->nr++;
}
