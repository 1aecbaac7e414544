/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_SRC_PERF_H
#define COLLECTOR_SRC_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/perf_open.h"
#include "collector/source.h"

/* Samples from perf_event's rings, one a CPU. */
struct coll_perf_options {
	struct coll_event *events; /* borrowed; user_only may be set by the open */
	size_t nr_events;
	bool callchain;
	uint32_t max_stack;        /* frames of a chain at most; 0: as the kernel has it */
	size_t pages;              /* of a ring; a power of two */
	/* whom: NULL and 0: everybody; else these threads and what they start */
	const uint32_t *tids;
	size_t nr_tids;
	bool on_exec;              /* begin when the thread executes a program */
};

/**
 * coll_perf_new - opens events on every CPU and maps their rings
 * @notes: what was changed to make it work (smaller rings), or which events take turns, or ""; at least 256 bytes
 * Returns 0, -EACCES or -EPERM if the user may not (everybody needs more rights than
 * single threads), or another -errno.
 */
int coll_perf_new(const struct coll_perf_options *opt, struct coll_source **out,
		  char notes[256], struct err *err);

#endif
