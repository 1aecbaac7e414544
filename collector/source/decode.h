/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_SOURCE_DECODE_H
#define COLLECTOR_SOURCE_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/map.h"
#include "collector/rec/rec.h"
#include "collector/source/layout.h"

/* Bytes of perf_event's ring -> struct coll_rec.  Source: <linux/perf_event.h>. */
struct coll_decoder {
	struct coll_layout layout;
	struct map_u64 events; /* id of an event -> its index */
	uint64_t last_id;      /* the id seen last, and its index */
	uint32_t last_event;
	struct coll_user_stack user_stack; /* of the last sample */
};

/**
 * coll_decode - one record
 * @data: the record with its header, @len bytes (the header's size); 8-byte aligned
 * @out: strings, frames and stacks are borrowed from @data, and from @d until the next
 * Returns 0 (COLL_REC_NONE for kinds that are of no interest), or -EBADMSG for bytes
 * that are no such record.
 */
int coll_decode(struct coll_decoder *d, const void *data, size_t len,
		struct coll_rec *out, struct err *err);

/* An event's id, as PERF_EVENT_IOC_ID tells it.  0 or -ENOMEM. */
int coll_decoder_add(struct coll_decoder *d, uint64_t id, uint32_t event);
void coll_decoder_fini(struct coll_decoder *d);

#endif
