/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/events/formats.h"

#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/markup.h"
#include "events/describe.h"
#include "events/encode.h"

/* What "opcollect events" prints. */

/* ---- for people */

void coll_events_text(const struct coll_events *e, struct strbuf *out)
{
	const struct ev_table *last = NULL;

	if (!e->cpu) {
		ev_machine_say(e->machine, out);
		strbuf_puts(out, "\n");
	}
	vec_for(&e->found, event) {
		if (event->table != last) {
			strbuf_putc(out, '\n');
			ev_describe_table(event->table, e->cpu ? NULL : e->machine, out);
			strbuf_puts(out, "\n\n");
		}
		last = event->table;
		ev_describe(event->table, event->def, out);
	}
}

static const char *const kinds[] = {
	[EV_TIMER] = "timer",
	[EV_SOFTWARE] = "software",
	[EV_HARDWARE] = "hardware",
};

/* Bit N: counter N can count it; 0: it needs none, or only the kernel knows. */
static uint64_t known_counters(const struct coll_events *all, const struct ev_event *e)
{
	unsigned nr = all->machine->nr_counters;

	if (e->def->cpuid_counters && !all->cpu && nr && nr < 64)
		return (1ull << nr) - 1;
	return e->def->counters;
}

/* ---- JSON: doc/events.schema.json */

static void json_perf(struct json *j, const struct ev_attr *a)
{
	json_key(j, "perf");
	json_open(j, '{');
	json_key(j, "type");
	if (a->pmu)
		json_null(j);
	else
		json_number(j, a->type);
	json_text(j, "pmu", a->pmu);
	json_key(j, "config");
	json_address(j, a->config);
	json_key(j, "config1");
	json_address(j, a->config1);
	json_count(j, "precise_ip", a->precise);
	json_close(j, '}');
}

static void json_mask(struct json *j, const struct ev_event *e, const struct ev_mask *m)
{
	struct ev_attr a;

	ev_encode(e->table, e->def, m, ev_mask_number(m), &a);
	json_line(j);
	json_open(j, '{');
	json_count(j, "mask", ev_mask_number(m));
	json_text(j, "name", m->name);
	json_text(j, "description", m->doc);
	json_perf(j, &a);
	json_close(j, '}');
}

static void json_masks(struct json *j, const struct ev_event *e)
{
	const struct ev_masks *s = e->def->masks;
	const struct ev_mask *m;

	json_key(j, "unit_masks");
	if (!s) {
		json_null(j);
		return;
	}
	json_open(j, '{');
	json_text(j, "type", ev_mask_type_name(s->type));
	json_count(j, "default", ev_masks_default(s, &m));
	json_key(j, "masks");
	json_open(j, '[');
	vec_for(&s->all, mask)
		json_mask(j, e, mask);
	json_close(j, ']');
	json_close(j, '}');
}

/* null: nobody but the kernel knows; an empty list: it needs none. */
static void json_counters(struct json *j, const struct coll_events *all,
			  const struct ev_event *e, const struct ev_attr *a)
{
	uint64_t counters = known_counters(all, e);

	json_key(j, "counters");
	if (!counters && !a->pmu && e->kind == EV_HARDWARE) {
		json_null(j);
		return;
	}
	json_open(j, '[');
	for (unsigned c = 0; c < 64; c++)
		if (counters & 1ull << c)
			json_number(j, c);
	json_close(j, ']');
}

static void json_event(struct json *j, const struct coll_events *all,
		       const struct ev_event *e)
{
	const struct ev_mask *m = NULL;
	struct ev_attr a;
	uint32_t number = e->def->masks ? ev_masks_default(e->def->masks, &m) : 0;

	ev_encode(e->table, e->def, m, number, &a);
	json_line(j);
	json_open(j, '{');
	json_text(j, "name", e->name);
	json_text(j, "description", e->doc);
	json_text(j, "cpu_type", e->table->cpu);
	json_text(j, "kind", kinds[e->kind]);
	json_key(j, "available");
	if (all->cpu)
		json_null(j);
	else
		json_bool(j, ev_can_sample(all->machine, e));
	json_count(j, "minimum", e->def->minimum);
	json_key(j, "default_count");
	if (e->default_count)
		json_number(j, e->default_count);
	else
		json_null(j);
	json_counters(j, all, e, &a);
	json_text(j, "ext", e->def->ext);
	json_perf(j, &a);
	json_masks(j, e);
	json_close(j, '}');
}

static void json_machine(struct json *j, const struct ev_machine *m)
{
	json_key(j, "machine");
	json_open(j, '{');
	json_text(j, "description", m->what);
	json_text(j, "cpu_type", *m->cpu ? m->cpu : NULL);
	json_text(j, "hypervisor", *m->hypervisor ? m->hypervisor : NULL);
	json_key(j, "counters");
	json_bool(j, m->counters);
	json_key(j, "nr_counters");
	if (m->nr_counters)
		json_number(j, m->nr_counters);
	else
		json_null(j);
	json_close(j, '}');
}

void coll_events_json(const struct coll_events *e, struct strbuf *out)
{
	struct json j = { .out = out };

	json_open(&j, '{');
	json_text(&j, "format", "opcollect events");
	json_count(&j, "version", 1);
	json_machine(&j, e->machine);
	json_text(&j, "cpu_type", e->cpu);
	json_key(&j, "events");
	json_open(&j, '[');
	vec_for(&e->found, event)
		json_event(&j, e, event);
	json_close(&j, ']');
	json_close(&j, '}');
	strbuf_putc(out, '\n');
}

/* ---- XML, as ophelp -X 1.x: doc/events.xsd */

static void xml_attr(struct strbuf *out, const char *name, const char *text)
{
	strbuf_printf(out, " %s=\"", name);
	markup_xml(text, out);
	strbuf_putc(out, '"');
}

static void xml_masks(const struct ev_masks *s, struct strbuf *out)
{
	const struct ev_mask *dflt;

	strbuf_printf(out, "  <unit_masks default=\"%" PRIu32 "\" category=\"%s\">\n",
		      ev_masks_default(s, &dflt), ev_mask_type_name(s->type));
	vec_for(&s->all, m) {
		strbuf_puts(out, "   <unit_mask");
		if (m->name)
			xml_attr(out, "name", m->name);
		strbuf_printf(out, " mask=\"%" PRIu32 "\"", ev_mask_number(m));
		xml_attr(out, "desc", m->doc);
		strbuf_puts(out, "/>\n");
	}
	strbuf_puts(out, "  </unit_masks>\n");
}

static void xml_event(const struct coll_events *all, const struct ev_event *e,
		      struct strbuf *out)
{
	strbuf_puts(out, " <event");
	xml_attr(out, "event_name", e->name);
	xml_attr(out, "desc", e->doc);
	strbuf_printf(out, " counter_mask=\"%" PRIu64 "\"", known_counters(all, e));
	if (e->def->ext)
		xml_attr(out, "ext", e->def->ext);
	strbuf_printf(out, " min_count=\"%" PRIu64 "\"", e->def->minimum);
	if (!e->def->masks) {
		strbuf_puts(out, "/>\n");
		return;
	}
	strbuf_puts(out, ">\n");
	xml_masks(e->def->masks, out);
	strbuf_puts(out, " </event>\n");
}

void coll_events_xml(const struct coll_events *e, struct strbuf *out)
{
	struct strbuf title = { 0 };

	if (e->cpu)
		strbuf_puts(&title, e->cpu);
	else
		ev_machine_say(e->machine, &title);
	strbuf_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
			 "<help_events schemaversion=\"2.0\">\n <header");
	xml_attr(out, "title", strbuf_str(&title));
	xml_attr(out, "doc", "See opfs-events(7)");
	strbuf_puts(out, "/>\n");
	vec_for(&e->found, event)
		xml_event(e, event, out);
	strbuf_puts(out, "</help_events>\n");
	strbuf_fini(&title);
}
