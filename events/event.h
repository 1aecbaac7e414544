/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef EVENTS_EVENT_H
#define EVENTS_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "events/machine.h"
#include "events/table/table.h"

/* Events by name, of a list of tables. */

enum ev_kind {
	EV_TIMER,    /* time, by the kernel's clock: works everywhere */
	EV_SOFTWARE, /* counted by the kernel */
	EV_HARDWARE, /* needs a performance monitoring unit */
};

struct ev_event {
	const char *name;             /* as sample files are called */
	const char *doc;              /* one line */
	const struct ev_table *table; /* where it is from; NULL: a raw code */
	const struct ev_def *def;     /* likewise */
	enum ev_kind kind;
	uint64_t raw_config;    /* perf_event_attr.config of a raw code */
	uint64_t default_count; /* events per sample if none is given; 0: by the rate */
	bool is_time;           /* counts nanoseconds: a rate is a count */
	bool is_cycles;         /* counts processor cycles */
	bool raw; /* rNNN: a unit mask is or-ed into bits 8-15 of the code */
};

/**
 * ev_event_find - the event of a name
 * @name: as a table has it, in any case if none has it so; rNNN is the raw code NNN
 * @out: copied to; its strings live as long as the tables, except that @name_room, of at
 *	least 32 bytes, holds the canonical name of a raw code
 * Returns false if there is none.
 */
bool ev_event_find(const struct ev_tables *in, const char *name, struct ev_event *out,
		   char name_room[32]);

/* The event that counts cycles, else time, by its name; NULL: the tables have neither. */
const char *ev_event_default(const struct ev_tables *in);

/* What is special about an event of a table. */
void ev_event_of(const struct ev_table *t, const struct ev_def *d, struct ev_event *out);

/* Appends "did you mean A or B?", or nothing if no name is near @name. */
void ev_event_suggest(const struct ev_tables *in, const char *name, struct strbuf *out);

#endif
