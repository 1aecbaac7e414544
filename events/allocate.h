/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef EVENTS_ALLOCATE_H
#define EVENTS_ALLOCATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "events/event_spec.h"

enum { EV_NO_COUNTER = 255 }; /* it needs none, or the kernel must choose */

/**
 * ev_allocate - gives each event a counter of its own
 * @wants: bit N: counter N can count the event; none: it needs no counter
 * @out: counters, or EV_NO_COUNTER
 * Finds an allocation if there is one.  Returns 0, or -EBUSY and in *refused the first
 * event for which there is no counter beside those before it.
 */
int ev_allocate(const uint64_t *wants, size_t nr, uint8_t *out, size_t *refused);

/**
 * ev_allocate_specs - the same for events as they were asked for
 * @counters: how many the machine has; 0: as many as tables say
 * Events of tables without lists of counters get EV_NO_COUNTER: only the kernel knows.
 * Units with a place for one event (IBS) are looked at, too.  Returns 0, or -EBUSY with
 * which events cannot be counted together.
 */
int ev_allocate_specs(const struct ev_spec *const *specs, size_t nr, unsigned counters,
		      uint8_t *out, struct err *err);

#endif
