/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_DECODE_H
#define COLLECTOR_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/map.h"
#include "collector/source.h"

/*
 * Bytes of perf_event's ring -> struct coll_rec.  The layout is fixed by the sample
 * type that src_perf asks for: IDENTIFIER, IP, TID, TIME, CPU, and CALLCHAIN if chains
 * are wanted; other records end in the sample id (TID, TIME, CPU, IDENTIFIER).
 * Source: perf_event_open(2), <linux/perf_event.h>.
 */
struct coll_decoder {
	bool callchain;
	struct map_u64 events;    /* id of an event -> its index */
	uint64_t last_id;         /* the id seen last, and its index */
	uint32_t last_event;
};

/* perf_event_attr.sample_type of what coll_decode() reads. */
uint64_t coll_decode_sample_type(bool callchain);

/**
 * coll_decode - one record
 * @data: the record with its header, @len bytes (the header's size); 8-byte aligned
 * @out: strings and frames are borrowed from @data
 * Returns 0 (COLL_REC_NONE for kinds that are of no interest), or -EBADMSG for bytes
 * that are no such record.
 */
int coll_decode(struct coll_decoder *d, const void *data, size_t len,
		struct coll_rec *out, struct err *err);

/* The time of a record, for merging; 0 if it has none or is damaged. */
uint64_t coll_decode_time(const void *data, size_t len);

/* An event's id, as PERF_EVENT_IOC_ID tells it.  0 or -ENOMEM. */
int coll_decoder_add(struct coll_decoder *d, uint64_t id, uint32_t event);
void coll_decoder_fini(struct coll_decoder *d);

#endif
