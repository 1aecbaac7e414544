/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef EVENTS_EVENT_H
#define EVENTS_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

/* The events that every kernel knows by number, and their names. */

enum ev_kind {
	EV_TIMER,    /* time, by the kernel's clock: works everywhere */
	EV_SOFTWARE, /* counted by the kernel */
	EV_HARDWARE, /* needs a performance monitoring unit */
};

struct ev_event {
	const char *name;  /* as sample files are called; never freed */
	const char *doc;   /* one line */
	enum ev_kind kind;
	uint32_t perf_type;    /* perf_event_attr.type */
	uint64_t perf_config;  /* perf_event_attr.config */
	uint64_t default_count; /* events per sample if none is given; 0: by the rate */
	bool is_time;      /* counts nanoseconds: a rate is a count */
	bool is_cycles;    /* counts processor cycles */
	bool raw;          /* rNNN: a unit mask is or-ed into bits 8-15 of the code */
};

/**
 * ev_event_find - the event of a name
 * @name: as perf or OProfile call it, in any case; rNNN is the raw code NNN
 * @out: copied to; its strings live for ever, except that @name_room, of at least 32
 *	bytes, holds the canonical name of a raw code
 * Returns false if there is none.
 */
bool ev_event_find(const char *name, struct ev_event *out, char name_room[32]);

/* Appends "did you mean A or B?", or nothing if no name is near @name. */
void ev_event_suggest(const char *name, struct strbuf *out);

/* The table by index, for lists; NULL behind its end. */
const struct ev_event *ev_event_at(size_t i);

#endif
