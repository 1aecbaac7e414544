/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_SOURCE_LAYOUT_H
#define COLLECTOR_SOURCE_LAYOUT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "collector/rec/user_stack.h"

/*
 * Where perf's records have what: said by the attribute of the event that wrote them.
 * A sample is its header, fields of 8 bytes each, what was read of counters, the chain,
 * registers and the user stack; other records end in the same fields in another order,
 * the sample id.
 * Source: perf_event_open(2) "PERF_RECORD_SAMPLE" and "sample_id_all".
 */
struct coll_layout {
	uint64_t regs;        /* which registers of user code there are; 0: none */
	uint32_t copy_bytes;  /* of the user stack, as was asked for; 0: none */
	uint64_t read_format; /* of the counters that were read; 0 with @reads false */
	bool reads, callchain;
	uint32_t max_frames; /* of a chain, as was asked for; 0: unknown */
	/* of a sample, in bytes from its beginning; @end is behind the fields */
	uint16_t id, ip, task, time, cpu, end;
	/* of other records, in bytes back from their end; @id_size: of the sample id */
	uint16_t id_time, id_cpu, id_size;
};

/* cpu, id_cpu: the records do not tell it. */
enum { COLL_LAYOUT_NONE = 0 };

/* Sets what the collector wants its own records to tell.  @copy_bytes: of the user stack,
 * with registers; 0: neither. */
void coll_layout_ask(bool callchain, uint32_t copy_bytes, struct perf_event_attr *attr);

/* The registers in @l->regs, @values in the order of their bits. */
void coll_layout_registers(const struct coll_layout *l, const uint64_t *values,
			   struct cfi_regs *out);

/**
 * coll_layout_init - the layout of the records of an event
 * Returns 0; -EINVAL if they lack what a sample needs: event, place, task and time.
 */
int coll_layout_init(struct coll_layout *l, const struct perf_event_attr *attr,
		     struct err *err);

/* The time of a record (a header, at least), for merging; 0 if it has none, or is
 * damaged. */
uint64_t coll_layout_time(const struct coll_layout *l, const void *data, size_t len);

/* Bytes behind @end of a sample that counters take; SIZE_MAX: more than @left. */
size_t coll_layout_read_size(const struct coll_layout *l, const void *at, size_t left);

#endif
