/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/source/counters.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "events/allocate.h"
#include "events/machine.h"

int coll_counters_check(const struct coll_event *events, size_t nr, struct err *err)
{
	CLEANUP(free_ptr) const struct ev_spec **specs = calloc(nr + 1, sizeof(*specs));
	CLEANUP(free_ptr) uint8_t *counters = calloc(nr + 1, 1);
	const struct ev_machine *m = ev_machine();

	if (!specs || !counters)
		return err_errno(err, -ENOMEM, "events");
	for (size_t i = 0; i < nr; i++)
		specs[i] = &events[i].spec;
	return m->counters ? ev_allocate_specs(specs, nr, m->nr_counters, counters, err)
			   : 0;
}

static void say_refused(const struct coll_event *events, size_t refused, char note[256])
{
	CLEANUP(strbuf_fini) struct strbuf others = { 0 };

	for (size_t i = 0; i < refused; i++)
		if (events[i].spec.event.kind == EV_HARDWARE)
			strbuf_printf(&others, "%s%s", others.len ? ", " : "",
				      events[i].spec.event.name);
	snprintf(note, 256,
		 "no counter is left for %.50s beside %.60s%s: the kernel takes turns, "
		 "and "
		 "counts are those of a share of the time",
		 events[refused].spec.event.name, strbuf_str(&others),
		 coll_sysctl("nmi_watchdog", 0) > 0 ? " (kernel.nmi_watchdog holds one)"
						    : "");
}

void coll_counters_note(const struct coll_event *events, size_t nr, char note[256])
{
	CLEANUP(free_ptr) int *fds = calloc(nr + 1, sizeof(*fds));
	size_t open = 0;
	int fd = 0;

	for (size_t i = 0; fds && i < nr && fd >= 0; i++) {
		if (events[i].spec.event.kind != EV_HARDWARE)
			continue;
		fd = coll_perf_open_group(&events[i], open ? fds[0] : -1);
		if (fd >= 0)
			fds[open++] = fd;
		else if (open && (fd == -EINVAL || fd == -ENOSPC || fd == -EBUSY))
			say_refused(events, i, note);
	}
	for (size_t i = 0; i < open; i++)
		close(fds[i]);
}

static int by_whose(const void *a, const void *b)
{
	const struct coll_reading *x = a, *y = b;

	return (x->whose > y->whose) - (x->whose < y->whose);
}

void coll_share_sum(struct coll_reading *readings, size_t nr, size_t event,
		    struct coll_share *out)
{
	uint64_t longest = 0; /* that any copy of this one's was enabled */

	*out = (struct coll_share){ 0 };
	qsort(readings, nr, sizeof(*readings), by_whose);
	for (size_t i = 0; i < nr; i++) {
		const struct coll_reading *r = &readings[i];

		if (r->event == event) {
			out->running += r->running;
			longest = r->enabled > longest ? r->enabled : longest;
		}
		if (i + 1 == nr || r[1].whose != r->whose) {
			out->enabled += longest;
			longest = 0;
		}
	}
}

void coll_share_tell(const char *event, const struct coll_share *s)
{
	double share = s->enabled ? (double)s->running / (double)s->enabled : 1;

	/* an event is enabled a moment before a counter runs */
	if (s->running && share < 0.99)
		log_note("%s was counted %.0f %% of the time: the counters did not "
			 "suffice, "
			 "and the kernel took turns",
			 event, 100 * share);
	else if (s->enabled && !s->running)
		log_warn("%s was never counted: no counter was free; another profiler or "
			 "the NMI watchdog (sysctl kernel.nmi_watchdog=0) holds them",
			 event);
}
