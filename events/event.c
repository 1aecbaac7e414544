/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "events/event.h"

#include <ctype.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/suggest.h"
#include "events/encode.h"

enum { MAX_SUGGESTIONS = 3, RAW_COUNT = 100000 };

/* What tables call cycles, the better ones first. */
static const char *const cycles[] = {
	"cycles",
	"cpu-cycles",
	"ref-cycles",
	"CPU_CLK_UNHALTED",
	"CYCLES_NOT_IN_HALT",
	"CPU_CYCLES",
	"UNHALTED_CORE_CYCLES",
	"UNHALTED_REFERENCE_CYCLES",
};

static bool is_cycles(const char *name)
{
	for (size_t i = 0; i < sizeof(cycles) / sizeof(cycles[0]); i++)
		if (!strcasecmp(cycles[i], name))
			return true;
	return false;
}

void ev_event_of(const struct ev_table *t, const struct ev_def *d, struct ev_event *out)
{
	struct ev_attr attr;

	ev_encode(t, d, NULL, 0, &attr);
	*out = (struct ev_event){
		.name = d->name,
		.doc = d->doc,
		.table = t,
		.def = d,
		.kind = EV_HARDWARE,
		.default_count = d->count,
		.is_cycles = is_cycles(d->name),
	};
	if (!attr.pmu && attr.type == PERF_TYPE_SOFTWARE) {
		out->is_time = attr.config == PERF_COUNT_SW_CPU_CLOCK ||
			       attr.config == PERF_COUNT_SW_TASK_CLOCK;
		out->kind = !strcmp(t->cpu, "timer") ? EV_TIMER : EV_SOFTWARE;
	}
	if (!out->default_count && !out->is_time && !out->is_cycles)
		out->default_count = d->minimum > RAW_COUNT ? d->minimum : RAW_COUNT;
}

const char *ev_event_default(const struct ev_tables *in)
{
	const struct ev_def *d;

	for (size_t i = 0; i < sizeof(cycles) / sizeof(cycles[0]); i++)
		for (unsigned t = 0; t < in->nr; t++) {
			d = ev_table_find(in->all[t], cycles[i]);
			if (d)
				return d->name;
		}
	for (unsigned t = 0; t < in->nr; t++) {
		d = ev_table_find(in->all[t], "TIMER");
		if (d)
			return d->name;
	}
	return NULL;
}

/* rNNN, as perf writes the code of an event that has no name. */
static bool find_raw(const char *name, struct ev_event *out, char room[32])
{
	size_t digits = strspn(name + 1, "0123456789abcdefABCDEF");

	if (name[0] != 'r' || !digits || digits > 16 || name[1 + digits])
		return false;
	*out = (struct ev_event){
		.name = room,
		.doc = "raw event code",
		.kind = EV_HARDWARE,
		.raw_config = strtoull(name + 1, NULL, 16),
		.default_count = RAW_COUNT,
		.raw = true,
	};
	snprintf(room, 32, "r%llx", (unsigned long long)out->raw_config);
	return true;
}

bool ev_event_find(const struct ev_tables *in, const char *name, struct ev_event *out,
		   char name_room[32])
{
	const struct ev_table *t = NULL;
	const struct ev_def *d = NULL;

	for (unsigned i = 0; i < in->nr; i++) {
		const struct ev_def *found = ev_table_find(in->all[i], name);

		if (found && (!d || !strcmp(found->name, name))) {
			t = in->all[i];
			d = found;
		}
		if (d && !strcmp(d->name, name))
			break;
	}
	if (d)
		ev_event_of(t, d, out);
	return d || find_raw(name, out, name_room);
}

/* Keeps the nearest, the first ones of equals. */
static void add_nearest(const char *name, const char *candidate,
			const char *found[MAX_SUGGESTIONS], unsigned far[MAX_SUGGESTIONS],
			int *nr)
{
	unsigned d = typo_distance(name, candidate);
	int at;

	if (d == TYPO_FAR)
		return;
	for (int i = 0; i < *nr; i++)
		if (!strcasecmp(found[i], candidate))
			return;
	at = *nr < MAX_SUGGESTIONS ? (*nr)++ : MAX_SUGGESTIONS;
	for (; at > 0 && far[at - 1] > d; at--)
		if (at < MAX_SUGGESTIONS) {
			found[at] = found[at - 1];
			far[at] = far[at - 1];
		}
	if (at < MAX_SUGGESTIONS) {
		found[at] = candidate;
		far[at] = d;
	}
}

void ev_event_suggest(const struct ev_tables *in, const char *name, struct strbuf *out)
{
	const char *found[MAX_SUGGESTIONS] = { 0 };
	unsigned far[MAX_SUGGESTIONS];
	int nr = 0;

	for (unsigned i = 0; i < in->nr; i++)
		vec_for(&in->all[i]->defs, d)
			add_nearest(name, d->name, found, far, &nr);
	if (!nr)
		return;
	strbuf_puts(out, "did you mean ");
	for (int i = 0; i < nr; i++)
		strbuf_printf(out, "%s%s", i ? (i + 1 == nr ? " or " : ", ") : "",
			      found[i]);
	strbuf_putc(out, '?');
}
