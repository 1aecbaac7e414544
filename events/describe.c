/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "events/describe.h"

#include <inttypes.h>
#include <string.h>

#include "events/encode.h"

/* Tables that are no processor's. */
static const struct general {
	const char *cpu, *what;
} generals[] = {
	{ "perf/generic", "Events that the kernel translates for every processor" },
	{ "perf/software", "Events that the kernel counts itself" },
	{ "timer", "Time" },
};

bool ev_can_sample(const struct ev_machine *m, const struct ev_event *e)
{
	struct ev_attr a;

	if (e->kind != EV_HARDWARE)
		return true;
	if (!m->counters)
		return false;
	if (e->raw)
		return true;
	ev_encode(e->table, e->def, NULL, 0, &a);
	return !ev_attr_resolve(&a, NULL);
}

void ev_describe_table(const struct ev_table *t, const struct ev_machine *m,
		       struct strbuf *out)
{
	bool software = !strcmp(t->cpu, "perf/software") || !strcmp(t->cpu, "timer");
	const char *what = NULL;

	for (size_t i = 0; i < sizeof(generals) / sizeof(generals[0]); i++)
		if (!strcmp(generals[i].cpu, t->cpu))
			what = generals[i].what;
	if (what)
		strbuf_printf(out, "%s (%s)", what, t->cpu);
	else
		strbuf_printf(out, "Events of the processor type %s", t->cpu);
	if (m && !m->counters && !software)
		strbuf_puts(out, ": not here, this machine offers no counters");
}

/* Runs of three and more as "0-5". */
static void add_counters(uint64_t counters, struct strbuf *out)
{
	const char *comma = "";

	for (unsigned c = 0; c < 64; c++) {
		unsigned end = c;

		if (!(counters & 1ull << c))
			continue;
		while (end < 63 && counters & 1ull << (end + 1))
			end++;
		if (end < c + 2)
			end = c;
		strbuf_printf(out, "%s%u", comma, c);
		if (end > c)
			strbuf_printf(out, "-%u", end);
		comma = ", ";
		c = end;
	}
}

void ev_describe_counters(const struct ev_table *t, const struct ev_def *d,
			  struct strbuf *out)
{
	struct ev_attr a;
	struct ev_event e;

	ev_event_of(t, d, &e);
	ev_encode(t, d, NULL, 0, &a);
	if (e.kind != EV_HARDWARE)
		strbuf_puts(out, "none: the kernel counts it");
	else if (a.pmu)
		strbuf_printf(out, "none: the unit %s, one event at a time", a.pmu);
	else if (d->cpuid_counters)
		strbuf_puts(out, "all that the processor has");
	else if (d->counters)
		add_counters(d->counters, out);
	else
		strbuf_puts(out, "chosen by the kernel");
}

void ev_describe_masks(const struct ev_def *d, struct strbuf *out)
{
	const struct ev_mask *dflt;
	uint32_t number;

	if (!d->masks)
		return;
	number = ev_masks_default(d->masks, &dflt);
	if (d->masks->type == EV_MANDATORY && !number && !dflt->name)
		return;
	strbuf_printf(out, "Unit masks (%s, default ", ev_mask_type_name(d->masks->type));
	if (dflt && dflt->name)
		strbuf_puts(out, dflt->name);
	else
		strbuf_printf(out, "0x%" PRIx32, number);
	strbuf_puts(out, ")\n");
	vec_for(&d->masks->all, m) {
		strbuf_printf(out, "0x%02" PRIx32 ": ", ev_mask_number(m));
		if (m->name)
			strbuf_printf(out, "(name=%s) ", m->name);
		strbuf_printf(out, "%s\n", m->doc);
	}
}

static void indent(const char *text, struct strbuf *out)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		strbuf_putc(out, '\t');
		strbuf_add(out, text, len);
		strbuf_putc(out, '\n');
		text += len + (text[len] == '\n');
	}
}

void ev_describe(const struct ev_table *t, const struct ev_def *d, struct strbuf *out)
{
	struct strbuf masks = { 0 };

	strbuf_printf(out, "%s: (counter: ", d->name);
	ev_describe_counters(t, d, out);
	strbuf_printf(out, ")\n\t%s (min count: %" PRIu64, d->doc, d->minimum);
	if (d->count)
		strbuf_printf(out, ", by default %" PRIu64, d->count);
	strbuf_puts(out, ")\n");
	ev_describe_masks(d, &masks);
	indent(strbuf_str(&masks), out);
	out->failed |= masks.failed;
	strbuf_fini(&masks);
}
