/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef EVENTS_ENCODE_H
#define EVENTS_ENCODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "events/table/table.h"

/* How perf is asked for an event: what goes into struct perf_event_attr. */
struct ev_attr {
	const char
		*pmu; /* not NULL: @type is in /sys/bus/event_source/devices/PMU/type */
	uint32_t type;
	uint64_t config, config1;
	unsigned precise; /* precise_ip */
};

/**
 * ev_encode - an event with a unit mask, as perf wants it
 * @mask: the unit mask, or NULL where @number is a sum of several
 * @number: of sample files
 */
void ev_encode(const struct ev_table *t, const struct ev_def *d,
	       const struct ev_mask *mask, uint32_t number, struct ev_attr *out);

/* Finds @type where it is the machine's; -ENODEV if that has no such unit. */
int ev_attr_resolve(struct ev_attr *a, struct err *err);

/* How the driver is asked: a file of the counter's directory, and what is written. */
enum { EV_DRIVER_FILES = 8 };
struct ev_driver {
	char dir[16]; /* "3", "ibs_op" */
	struct ev_driver_file {
		const char *name;
		uint64_t value;
	} files[EV_DRIVER_FILES];
	unsigned nr;
};

/* What one event is to be, whatever the interface. */
struct ev_wish {
	const struct ev_def *def; /* NULL: a raw code, @config */
	const struct ev_mask *mask;
	uint32_t number;
	uint64_t config;
	uint64_t count;
	bool kernel, user;
};

/**
 * ev_encode_driver - an event for the counters of the kernel driver
 * @counter: its number; an event of IBS has a directory of its own
 * Values are ordered as they must be written: "enabled" is the last.
 * Returns 0, or -EINVAL for what the driver cannot be told.
 */
int ev_encode_driver(const struct ev_wish *w, unsigned counter, struct ev_driver *out,
		     struct err *err);

#endif
