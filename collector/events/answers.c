/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/events/answers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "collector/engine/options.h"
#include "collector/engine/plan.h"
#include "events/allocate.h"
#include "events/table/source.h"

enum { DEFAULT_COUNT = 100000 }; /* OProfile's, of cycles */

/* ---- of the processor */

static int say_types(const struct coll_events *e, struct strbuf *out, struct err *err)
{
	CLEANUP(names_fini) struct names types = { 0 };
	int rc = ev_cpu_types(&types, err);

	(void)e;
	vec_for(&types, type)
		strbuf_printf(out, "%s\n", *type);
	return rc;
}

static int say_type(const struct coll_events *e, struct strbuf *out, struct err *err)
{
	const char *cpu = e->cpu ? e->cpu : e->machine->cpu;

	if (!*cpu)
		return err_set(err, -ENOENT,
			       "no processor type is known for this machine, %s",
			       e->machine->what);
	strbuf_printf(out, "%s\n", cpu);
	return 0;
}

static int say_frequency(const struct coll_events *e, struct strbuf *out, struct err *err)
{
	double mhz = coll_cpu_mhz();

	(void)e;
	if (mhz <= 0)
		return err_set(err, -ENOENT,
			       "/proc/cpuinfo does not tell the frequency (\"cpu MHz\")");
	strbuf_printf(out, "%.2f\n", mhz);
	return 0;
}

const char *coll_events_default(const struct coll_events *e)
{
	return e->cpu ? ev_event_default(&e->tables) : coll_default_event();
}

static int say_default(const struct coll_events *e, struct strbuf *out, struct err *err)
{
	const char *name = coll_events_default(e);
	uint64_t count = DEFAULT_COUNT;
	struct ev_spec s;
	int rc;

	if (!name)
		return err_set(err, -ENOENT, "%s has no event that counts cycles or time",
			       e->cpu);
	rc = ev_spec_parse_in(&e->tables, name, &s, err);
	if (rc)
		return rc;
	if (s.event.is_time)
		count = 1000000000 / COLL_DEFAULT_HZ;
	if (count < s.event.def->minimum)
		count = s.event.def->minimum;
	strbuf_printf(out, "%s:%" PRIu64 ":%" PRIu64 ":1:1\n", name, count, s.unit_mask);
	return 0;
}

/* ---- of the events that are given */

static int check_twins(const struct coll_events *e, struct err *err)
{
	for (size_t i = 0; i < e->nr_given; i++)
		for (size_t j = 0; j < i; j++) {
			const struct ev_spec *a = &e->given[i], *b = &e->given[j];

			if (a->event.name == b->event.name && a->count == b->count &&
			    a->unit_mask == b->unit_mask && a->kernel == b->kernel &&
			    a->user == b->user)
				return err_set(err, -EINVAL,
					       "event %s is given twice: leave one out",
					       a->event.name);
		}
	return 0;
}

static void add_counter(const struct ev_spec *s, uint8_t counter, struct strbuf *out)
{
	if (counter != EV_NO_COUNTER)
		strbuf_printf(out, "%u", counter);
	else
		strbuf_puts(out, s->event.def && s->event.def->ext ? s->event.def->ext
								   : "N/A");
}

static int say_counters(const struct coll_events *e, struct strbuf *out, struct err *err)
{
	CLEANUP(free_ptr)
	const struct ev_spec **specs = calloc(e->nr_given, sizeof(*specs));
	CLEANUP(free_ptr) uint8_t *counters = calloc(e->nr_given, 1);
	int rc = check_twins(e, err);

	if (!specs || !counters)
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < e->nr_given; i++)
		specs[i] = &e->given[i];
	rc = rc ? rc
		: ev_allocate_specs(specs, e->nr_given,
				    e->cpu ? 0 : e->machine->nr_counters, counters, err);
	for (size_t i = 0; i < e->nr_given && !rc; i++) {
		add_counter(specs[i], counters[i], out);
		strbuf_putc(out, i + 1 < e->nr_given ? ' ' : '\n');
	}
	return rc;
}

static void say_unit_masks(const struct coll_events *e, struct strbuf *out)
{
	for (size_t i = 0; i < e->nr_given; i++)
		strbuf_printf(out, "%" PRIu64 "\n", e->given[i].unit_mask);
}

static void say_extra_masks(const struct coll_events *e, struct strbuf *out)
{
	for (size_t i = 0; i < e->nr_given; i++) {
		const struct ev_mask *m = e->given[i].mask;

		strbuf_printf(out, "%" PRIu32 "\n", m && !m->raw ? m->extra : 0);
	}
}

static void say_codes(const struct coll_events *e, struct strbuf *out)
{
	for (size_t i = 0; i < e->nr_given; i++) {
		const struct ev_event *event = &e->given[i].event;

		strbuf_printf(out, "%" PRIu64 "\n",
			      event->raw ? event->raw_config : event->def->code);
	}
}

const struct coll_answer coll_answers[] = {
	{ .option = "json", .list = coll_events_json, .of_events = true },
	{ .option = "xml", .list = coll_events_xml, .of_events = true },
	{ .option = "list-cpu-types", .answer = say_types },
	{ .option = "get-cpu-type", .answer = say_type },
	{ .option = "get-cpu-frequency", .answer = say_frequency },
	{ .option = "get-default-event", .answer = say_default },
	{ .option = "check-events", .answer = say_counters, .of_given = true },
	{ .option = "unit-mask", .list = say_unit_masks, .of_given = true },
	{ .option = "extra-mask", .list = say_extra_masks, .of_given = true },
	{ .option = "code", .list = say_codes, .of_given = true },
	{ 0 },
};
