/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: collector libspec libcfi events base */
/*
 * A stream of anything, read in pieces: what comes out lies within what went in, and
 * samples and losses are never fewer than what was told of them.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "collector/source/stream.h"
#include "collector/source/stream_events.h"
#include "tests/fuzz/fuzz.h"

static volatile uint64_t sink;

struct seen {
	uint64_t samples, lost;
	struct coll_ext ext;
};

static void see_stack(const struct coll_user_stack *stack)
{
	const uint8_t *bytes = stack->bytes;

	require(stack->size % 8 == 0 && stack->nr_ranges <= COLL_STREAM_RANGES);
	for (size_t i = 0; i < stack->size; i++)
		sink += bytes[i];
	for (size_t i = 0; i < stack->nr_ranges; i++) {
		require(stack->ranges[i].start < stack->ranges[i].end);
		require(stack->ranges[i].handle && stack->ranges[i].handle != UINT64_MAX);
	}
}

static void see_sample(struct seen *s, const struct coll_sample *sample)
{
	struct coll_ext_hit hits[COLL_EXT_MAX_EVENTS];
	size_t nr;

	require(sample->nr_places >= 1 && sample->nr_places <= COLL_MAX_FRAMES);
	for (size_t i = 0; i < sample->nr_places; i++)
		sink += sample->places[i].at + sample->places[i].handle;
	require(strnlen(sample->who->comm, COLL_TASK_COMM) < COLL_TASK_COMM);
	if (sample->user_stack)
		see_stack(sample->user_stack);
	if (!sample->ext)
		return;
	require(sample->ext->nr <= COLL_EXT_MAX_REGS);
	for (size_t i = 0; i < sample->ext->nr; i++)
		sink += sample->ext->regs[i];
	coll_ext_derive(&s->ext, sample->ext, hits, &nr);
	for (size_t i = 0; i < nr; i++)
		require(hits[i].event < s->ext.events.len && hits[i].weight);
}

static int take(void *ctx, const struct coll_rec *rec)
{
	struct seen *s = ctx;

	switch (rec->kind) {
	case COLL_REC_SAMPLE:
		s->samples++;
		see_sample(s, &rec->sample);
		break;
	case COLL_REC_LOST:
		require(spec_stat_info[rec->why].kind == SPEC_STAT_KIND_LOSS);
		s->lost += rec->lost;
		break;
	case COLL_REC_ORIGIN:
		require(rec->origin.mmap.build_id_len <= COLL_BUILD_ID);
		require(rec->origin.handle && rec->origin.handle != UINT64_MAX);
		if (rec->origin.gone)
			break;
		require(rec->origin.region || rec->origin.mmap.filename[0] == '/');
		sink += strlen(rec->origin.mmap.filename);
		require(rec->origin.mmap.start + rec->origin.mmap.len >=
			rec->origin.mmap.start);
		break;
	case COLL_REC_MODULE:
		require(!strchr(rec->module->name, '/'));
		require(rec->module->start + rec->module->len >= rec->module->start);
		break;
	case COLL_REC_FIGURE:
		require(spec_stat_info[rec->why].kind == SPEC_STAT_KIND_FIGURE);
		break;
	default:
		break;
	}
	return 0;
}

/* As reads bring them: in pieces, each in memory of its own that is watched. */
static void feed(struct coll_stream *s, const uint8_t *data, size_t nr, size_t piece)
{
	size_t from = 0, end = 0, used;

	while (end < nr) {
		uint64_t *copy;
		int rc;

		end = end + piece < nr ? end + piece : nr;
		copy = malloc((end - from) * sizeof(*copy));
		if (!copy)
			return;
		memcpy(copy, data + from * sizeof(*copy), (end - from) * sizeof(*copy));
		rc = coll_stream_feed(s, copy, end - from, &used, NULL);
		free(copy);
		if (rc)
			return;
		require(used <= end - from);
		from += used;
	}
	coll_stream_end(s, nr - from);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(coll_stream_fini) struct coll_stream stream = { 0 };
	CLEANUP(coll_stream_events_fini) struct coll_stream_events counters = { 0 };
	struct seen seen = { 0 };

	if (size < 1 || size > 1 << 16 || coll_stream_init(&stream, NULL))
		return 0;
	require(!coll_ext_parse(
		&seen.ext,
		"ibs:fetch:IBS_FETCH_ALL,IBS_FETCH_LATENCY:50000:0|op:"
		"IBS_OP_ALL,IBS_OP_LOAD,IBS_OP_NB_REMOTE_CACHE_LAT:50000:1",
		NULL));
	stream.consume = take;
	stream.ctx = &seen;
	stream.counter = coll_stream_events_add;
	stream.counter_ctx = &counters;
	if (!coll_stream_events_init(&counters, &seen.ext, NULL))
		feed(&stream, data + 1, (size - 1) / 8, 1 + data[0] % 64);
	coll_ext_fini(&seen.ext);
	return 0;
}
