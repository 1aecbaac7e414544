/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef EVENTS_EVENT_SPEC_H
#define EVENTS_EVENT_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "events/event.h"

/* What a person asks to be sampled: NAME[:COUNT[:UNITMASK[:KERNEL[:USER]]]]. */
struct ev_spec {
	struct ev_event event;
	char raw_name[32];   /* where event.name points for a raw code */
	uint64_t count;      /* events per sample as given; 0: not given */
	uint64_t unit_mask;
	bool kernel, user;   /* which mode is sampled; at least one */
};

/**
 * ev_spec_parse - reads one event specification
 * As OProfile writes them: empty fields and fields left out have their defaults (count
 * 0, unit mask 0, kernel 1, user 1); numbers may be hexadecimal with 0x.
 * @out: of the caller; it must not be moved after this, since event.name may point into it
 *	(ev_spec_copy())
 * Returns 0, -ENOENT for an unknown name (the message suggests near ones), -EINVAL.
 */
int ev_spec_parse(const char *text, struct ev_spec *out, struct err *err);

void ev_spec_copy(struct ev_spec *to, const struct ev_spec *from);

/* perf_event_attr.config of the event with its unit mask. */
uint64_t ev_spec_config(const struct ev_spec *spec);

#endif
