/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_SRC_KERNEL_H
#define COLLECTOR_SRC_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "collector/ext.h"
#include "collector/perf_open.h"
#include "collector/source.h"

/* Samples from the driver opfs_sampler, of every process on every CPU. */
struct coll_driver_options {
	const struct coll_event *events; /* borrowed; each with a period */
	size_t nr_events;
	const struct coll_ext *ext;      /* borrowed: which of its hardware is wanted */
	bool callchain;
	size_t pages;                    /* of a CPU's buffer; 0: as it is */
	const char *save;                /* the stream is written there too; or NULL */
	const char *dir;                 /* NULL: COLL_DRIVER_DIR; tests: another */
};

/**
 * coll_driver_new - opens the driver's buffer and sets what is to be counted
 * Returns 0, -ENODEV if the driver is not loaded or cannot count that, -EPERM, -EBUSY if
 * it is in use, -EINVAL for an event that it does not take, or another -errno.
 */
int coll_driver_new(const struct coll_driver_options *opt, struct coll_source **out,
		    struct err *err);

#endif
