/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef EVENTS_DESCRIBE_H
#define EVENTS_DESCRIBE_H

#include "base/strbuf.h"
#include "events/event.h"
#include "events/machine.h"
#include "events/table/table.h"

/* Events in words, for people. */

/* "Events of x86-64/family19h", "Events the kernel translates for every processor"; and
 * where @m is given and cannot sample them, that it cannot. */
void ev_describe_table(const struct ev_table *t, const struct ev_machine *m,
		       struct strbuf *out);

/* "0, 1, 2, 3", "all that CPUID tells", "chosen by the kernel", "none: ...". */
void ev_describe_counters(const struct ev_table *t, const struct ev_def *d,
			  struct strbuf *out);

/* A line that tells type and default, and one for every unit mask; nothing if the event
 * has none, or only 0. */
void ev_describe_masks(const struct ev_def *d, struct strbuf *out);

/* All of it, as OProfile's ophelp lays it out. */
void ev_describe(const struct ev_table *t, const struct ev_def *d, struct strbuf *out);

/* Can the machine sample events of that kind? */
bool ev_can_sample(const struct ev_machine *m, const struct ev_event *e);

#endif
