/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_EVENTS_FORMATS_H
#define COLLECTOR_EVENTS_FORMATS_H

#include "base/strbuf.h"
#include "base/vec.h"
#include "events/event_spec.h"
#include "events/machine.h"

/* What is to be shown: tables, and of them the events that were asked for. */
struct coll_events {
	const struct ev_machine *machine;
	const char *cpu; /* processor type that was asked for; NULL: this machine */
	struct ev_tables tables;
	VEC(struct ev_event) found;
	struct ev_spec *given; /* those that were given, as they were; heap */
	size_t nr_given;
};

/* The whole output, in each of its forms. */
void coll_events_text(const struct coll_events *e, struct strbuf *out);
void coll_events_json(const struct coll_events *e, struct strbuf *out);
void coll_events_xml(const struct coll_events *e, struct strbuf *out);

#endif
