/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_SOURCE_STREAM_H
#define COLLECTOR_SOURCE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/strbuf.h"
#include "collector/rec/ext.h"
#include "collector/rec/rec.h"

/*
 * The driver's event buffer -> struct coll_rec.  Its format is in
 * kernel/uapi/opfs_buffer.h.  Anybody's bytes will do: what makes no sense is counted as
 * lost (lost_stream), never believed.
 */
enum {
	COLL_STREAM_COUNTERS = 256,
	COLL_STREAM_RANGES = 256, /* of executable memory that one sample has */
	/* words of the longest record there can be */
	COLL_STREAM_MAX_WORDS = 2 + UINT16_MAX,
};

/* What a counter counts, as the stream tells. */
struct coll_counter {
	uint32_t index;
	uint64_t config, unit_mask, count, extra;
	uint32_t perf_type;
	bool kernel, user;
	bool timer; /* @count is in nanoseconds */
};

/* What the first record of a stream says. */
struct coll_hello {
	uint64_t mono_ns, real_ns;
	uint64_t nr_cpus, depth, timer_hz;
};

struct coll_stream {
	/* of the caller */
	coll_consume consume;
	void *ctx;
	/* A counter that the stream tells of.  Its event's index, or -errno (its samples
	 * are lost then).  NULL: events are set by coll_stream_map(). */
	int (*counter)(void *ctx, const struct coll_counter *c);
	void *counter_ctx;

	/* where the stream is */
	bool begun, ended;
	struct coll_hello hello;
	struct coll_rec rec;     /* the context of the next sample */
	struct coll_place place; /* its image and mode; @at is the last pc */
	uint64_t image;          /* handle that @place goes back to in user mode */
	struct coll_who who;
	bool tracing;
	struct coll_rec traced; /* the chain's sample, once it was there */
	struct coll_ext_sample traced_ext;
	uint64_t regs[COLL_EXT_MAX_REGS];
	struct coll_user_stack user_stack; /* of the chain's sample */
	struct strbuf stack_bytes;
	struct coll_code_range *ranges; /* room for COLL_STREAM_RANGES */
	struct coll_place *places;      /* room for COLL_MAX_FRAMES */
	size_t nr_places;
	uint32_t frames_over;                  /* more than there is room for */
	uint32_t events[COLL_STREAM_COUNTERS]; /* by counter; UINT32_MAX: unknown */
	struct map regions;                    /* kind and addresses -> handle */
	uint64_t nr_regions;
	uint64_t told, lost; /* samples since the stream began */
	struct strbuf path;
};

/* 0 or -ENOMEM. */
int coll_stream_init(struct coll_stream *s, struct err *err);
void coll_stream_fini(struct coll_stream *s);

/* Samples of the counter are of this event. */
void coll_stream_map(struct coll_stream *s, uint32_t counter, uint32_t event);

enum { COLL_STREAM_START = 3 }; /* words that tell whether it is a stream */

/* Do streams begin so?  0, or -EPROTO or -EBADMSG as coll_stream_feed(). */
int coll_stream_check(const uint64_t words[COLL_STREAM_START], struct err *err);

/**
 * coll_stream_feed - takes records
 * @words: as read; 8-byte aligned
 * @used: how many were taken; the rest is part of a record, to be given again with what
 *	follows.  At least one of COLL_STREAM_MAX_WORDS is always taken.
 * Returns 0, -EPROTO for a stream of another version, -EBADMSG for one that does not
 * begin as streams do, or what the consumer failed with.
 */
int coll_stream_feed(struct coll_stream *s, const uint64_t *words, size_t nr,
		     size_t *used, struct err *err);

/**
 * coll_stream_end - no more comes
 * @left: words that were not taken
 * What was begun is handed over; a stream cut short costs what is missing.
 */
int coll_stream_end(struct coll_stream *s, size_t left);

#endif
