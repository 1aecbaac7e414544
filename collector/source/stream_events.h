/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_SOURCE_STREAM_EVENTS_H
#define COLLECTOR_SOURCE_STREAM_EVENTS_H

#include "base/arena.h"
#include "collector/rec/ext.h"
#include "collector/source/stream.h"
#include "collector/store/sink.h"

/*
 * The events of a stream that tells itself what was counted, by what perf calls them; the
 * derived events of an extended feature come first.
 */
struct coll_stream_events {
	struct coll_sink_event *events; /* room for all there can be; never moves; heap */
	uint32_t nr;
	uint32_t nr_counters; /* of these, the ones that streams told of */
	struct arena mem;
};

/* 0 or -ENOMEM. */
int coll_stream_events_init(struct coll_stream_events *t, const struct coll_ext *ext,
			    struct err *err);
void coll_stream_events_fini(struct coll_stream_events *t);

/* A struct coll_stream's counter(); @ctx is the table.  -ENOSPC: there are too many. */
int coll_stream_events_add(void *ctx, const struct coll_counter *c);

/* What sample files say of a derived event. */
void coll_stream_events_describe(const struct coll_ext_event *e,
				 struct coll_sink_event *out);

#endif
