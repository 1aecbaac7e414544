/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef EVENTS_EVENT_SPEC_H
#define EVENTS_EVENT_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "events/encode.h"
#include "events/event.h"

/* What a person asks to be sampled: NAME[:COUNT[:UNITMASK[:KERNEL[:USER]]]]. */
struct ev_spec {
	struct ev_event event;
	char raw_name[32];  /* where event.name points for a raw code */
	uint64_t count;     /* events per sample as given; 0: not given */
	uint64_t unit_mask; /* as sample files know it */
	const struct ev_mask
		*mask;     /* of the event's table; NULL: a sum of several, none */
	bool kernel, user; /* which mode is sampled; at least one */
};

/**
 * ev_spec_parse_in - reads one event specification
 * As OProfile writes them: empty fields and fields left out have their defaults (count
 * 0, the table's unit mask, kernel 1, user 1); numbers may be hexadecimal with 0x; a unit
 * mask may be given by its name; "sys" or "user" instead of KERNEL and USER samples one
 * mode only, and so does perf's NAME:u or NAME:k.  All that OProfile checks is checked:
 * minimum count, unit mask.
 * @in: tables in which names are looked up; they must outlive @out
 * @out: of the caller; it must not be moved after this, since event.name may point into
 *	it (ev_spec_copy())
 * Returns 0, -ENOENT for an unknown name (the message suggests near ones), -EINVAL.
 */
int ev_spec_parse_in(const struct ev_tables *in, const char *text, struct ev_spec *out,
		     struct err *err);

/* The same with the tables of this machine. */
int ev_spec_parse(const char *text, struct ev_spec *out, struct err *err);
/* The same of what is counted without samples: NAME[:UNITMASK[:KERNEL[:USER]]]. */
int ev_spec_parse_counted(const char *text, struct ev_spec *out, struct err *err);

void ev_spec_copy(struct ev_spec *to, const struct ev_spec *from);

/* How perf is asked for it; -ENODEV if this machine lacks the unit that counts it, which
 * ev_spec_encode() does not look at. */
int ev_spec_attr(const struct ev_spec *spec, struct ev_attr *out, struct err *err);
void ev_spec_encode(const struct ev_spec *spec, struct ev_attr *out);

/* How the driver is asked for it, a sample every @count events; as ev_encode_driver(). */
int ev_spec_driver(const struct ev_spec *spec, uint64_t count, unsigned counter,
		   struct ev_driver *out, struct err *err);

#endif
