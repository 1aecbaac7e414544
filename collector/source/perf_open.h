/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_SOURCE_PERF_OPEN_H
#define COLLECTOR_SOURCE_PERF_OPEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "events/event_spec.h"

/* One event as it will be sampled, or counted. */
struct coll_event {
	struct ev_spec spec;
	uint64_t period;  /* events per sample; 0: as many as @rate_hz needs */
	uint64_t rate_hz; /* if @period is 0 */
	bool user_only;   /* the kernel part was asked for and is not allowed */
};

struct coll_perf_open {
	pid_t pid; /* -1: whoever runs on @cpu */
	int cpu;
	bool inherit, on_exec;
	bool counts; /* it takes no samples; what follows is of samples */
	bool callchain;
	uint32_t copy_bytes; /* of the user stack, with registers; 0: neither */
	uint32_t max_stack; /* frames of a chain; 0: sysctl kernel.perf_event_max_stack */
	size_t watermark;   /* bytes in the ring that wake the reader */
};

/**
 * coll_perf_open_event - opens an event that samples, or counts, disabled
 * Where the kernel's part of a thread is not allowed, it is opened without, and
 * @e->user_only is set.
 * Returns the descriptor, or -errno with what to do about it.
 */
int coll_perf_open_event(struct coll_event *e, const struct coll_perf_open *how,
			 struct err *err);

/* What an event has counted, with all that inherited from it, and for how many
 * nanoseconds it was to be counted and was; an older kernel does not tell @lost. */
struct coll_perf_value {
	uint64_t count, enabled, running, lost;
};

/* False, and all 0, if the kernel does not tell: it gave the event up. */
bool coll_perf_read(int fd, struct coll_perf_value *out);

/* Opens an event of this thread that only counts, in the group of another one; -1: as the
 * first of a group.  Returns the descriptor, or -errno. */
int coll_perf_open_group(const struct coll_event *e, int group);

/* Opens the event that reports mappings, names, forks and exits; it samples nothing. */
int coll_perf_open_sideband(const struct coll_perf_open *how, struct err *err);

/* Opens the event that wakes who polls it when a task of that CPU gets another name, as
 * with each program.  Returns the descriptor, or -errno. */
int coll_perf_open_alarm(int cpu);

/* How many frames a chain has at most, if so many are wanted; 0: as the sysctl says. */
uint32_t coll_perf_max_stack(uint32_t wanted);

/* True if the machine counts cycles and can sample by them. */
bool coll_perf_has_pmu(void);

/* A number in /proc/sys/kernel, or @other if it cannot be read. */
long coll_sysctl(const char *name, long other);

#endif
