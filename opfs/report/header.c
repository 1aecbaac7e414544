/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/header.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/utf8.h"
#include "events/event.h"
#include "libspec/name/pid.h"
#include "libspec/sample/cpu_type.h"

#define NR(array) (sizeof(array) / sizeof((array)[0]))

static const struct ev_def *find_in(const char *cpu, const char *name)
{
	const struct ev_table *t;
	const struct ev_def *d;

	if (!cpu || ev_table_get(cpu, &t, NULL))
		return NULL;
	d = ev_table_find(t, name);
	return d && !strcmp(d->name, name) ? d : NULL;
}

/* NULL: nothing is known about the event.  The architectural events of Intel's CPUs are
 * in OProfile's words, and its tables of these CPUs include them. */
static const struct ev_def *find_event(uint32_t cpu_type, const char *name)
{
	const char *const cpus_of[] = { "i386/arch_perfmon", spec_cpu_type(cpu_type),
					"perf/generic", "perf/software", "timer" };
	const struct ev_def *d = NULL;
	struct ev_event e;
	char room[32];

	for (size_t i = 0; i < NR(cpus_of) && !d; i++)
		d = find_in(cpus_of[i], name);
	/* a type that covers several, of which this machine may be one */
	if (!d && ev_event_find(ev_machine_tables(NULL), name, &e, room))
		d = e.def;
	return d;
}

const char *header_event_doc(uint32_t cpu_type, const char *event)
{
	const struct ev_def *d;

	if (cpu_type == HEADER_CPU_TIMER)
		return "CPU time, by a timer";
	d = find_event(cpu_type, event);
	return d ? d->doc : NULL;
}

/* What a unit mask selects, in OProfile's words. */
static const char *mask_doc(const struct ev_def *d, uint64_t unit_mask)
{
	const struct ev_mask *m;
	bool several;

	if (!d->masks)
		return unit_mask ? "multiple flags" : "No unit mask";
	m = unit_mask > UINT32_MAX
		    ? NULL
		    : ev_masks_by_number(d->masks, (uint32_t)unit_mask, &several);
	return m ? m->doc : "multiple flags";
}

void header_cpu(const struct profile *p, struct strbuf *out)
{
	const struct spec_sample_header *h;
	const char *name;

	if (!p->nr_classes)
		return;
	h = p->classes[0].header;
	name = spec_cpu_name(h->cpu_type);
	if (name)
		strbuf_puts(out, name);
	else
		strbuf_printf(out, "unknown type %" PRIu32, h->cpu_type);
	if (isfinite(h->cpu_mhz) && h->cpu_mhz > 0)
		strbuf_printf(out, ", speed %g MHz (estimated)", h->cpu_mhz);
}

/* "Counted NAME events (...) with a unit mask of 0xNN (...) count N". */
static void add_class(const struct profile_class *c, struct strbuf *out)
{
	const struct ev_def *d = find_event(c->header->cpu_type, c->event);

	if (c->header->cpu_type == HEADER_CPU_TIMER) {
		strbuf_puts(out, "Profiling through timer interrupt");
		return;
	}
	strbuf_puts(out, "Counted ");
	escape_text(out, c->event);
	strbuf_puts(out, " events");
	if (d)
		strbuf_printf(out, " (%s)", d->doc);
	strbuf_printf(out, " with a unit mask of 0x%02" PRIx64, c->unit_mask);
	if (d)
		strbuf_printf(out, " (%s)", mask_doc(d, c->unit_mask));
	strbuf_printf(out, " count %" PRIu64, c->count);
}

/* ---- columns that differ in more than the event */

static const struct axis_row {
	enum spec_axis axis;
	const char *title, *line;
	size_t off; /* of the number in struct profile_class */
} axes[] = {
	{ SPEC_AXIS_TGID, "tgid", "Processes with a thread group ID of ",
	  offsetof(struct profile_class, tgid) },
	{ SPEC_AXIS_TID, "tid", "Processes with a thread ID of ",
	  offsetof(struct profile_class, tid) },
	{ SPEC_AXIS_CPU, "cpu", "Samples on CPU ", offsetof(struct profile_class, cpu) },
};

/* NULL: columns are events. */
static const struct axis_row *axis_of(const struct profile *p)
{
	for (size_t i = 0; i < NR(axes); i++)
		if (axes[i].axis == p->axis)
			return &axes[i];
	return NULL;
}

static void add_id(const struct axis_row *axis, const struct profile_class *c,
		   struct strbuf *out)
{
	int64_t id = *(const int64_t *)((const char *)c + axis->off);

	if (id == SPEC_ALL)
		strbuf_puts(out, "all");
	else if (axis->axis == SPEC_AXIS_CPU)
		strbuf_printf(out, "%" PRId64, id);
	else
		spec_pid_show(id, out);
}

/* What a column counts: as add_class(), or by what split: made it, "Samples on CPU 1". */
static void add_column(const struct profile *p, size_t class, struct strbuf *out)
{
	const struct axis_row *axis = axis_of(p);

	if (!axis) {
		add_class(&p->classes[class], out);
		return;
	}
	strbuf_puts(out, axis->line);
	add_id(axis, &p->classes[class], out);
}

void header_lines(const struct profile *p, struct strbuf *out)
{
	if (!p->nr_classes)
		return;
	strbuf_puts(out, "CPU: ");
	header_cpu(p, out);
	strbuf_putc(out, '\n');
	if (axis_of(p)) { /* one event for all */
		add_class(&p->classes[0], out);
		strbuf_putc(out, '\n');
	}
	for (size_t c = 0; c < p->nr_classes; c++) {
		add_column(p, c, out);
		strbuf_putc(out, '\n');
	}
}

static bool has_twin(const struct profile *p, size_t class)
{
	const struct profile_class *me = &p->classes[class];

	for (size_t c = 0; c < p->nr_classes; c++)
		if (c != class && p->classes[c].count == me->count &&
		    !strcmp(p->classes[c].event, me->event))
			return true;
	return false;
}

static void add_title(const struct profile *p, size_t class, struct strbuf *out)
{
	const struct profile_class *c = &p->classes[class];
	const struct axis_row *axis = axis_of(p);

	if (axis) {
		strbuf_printf(out, "%s:", axis->title);
		add_id(axis, c, out);
	} else {
		strbuf_printf(out, "%.40s:%" PRIu64, c->event, c->count);
	}
}

/* The title whole, and cut to @head bytes and those at its end that have room. */
static void cut_title(const struct profile *p, size_t class, size_t head,
		      char out[HEADER_TITLE_MAX + 1])
{
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };
	char mask[HEADER_TITLE_MAX - 3] = "";
	size_t room;

	if (!axis_of(p) && has_twin(p, class))
		snprintf(mask, sizeof(mask), ":0x%02" PRIx32,
			 (uint32_t)p->classes[class].unit_mask);
	room = HEADER_TITLE_MAX - strlen(mask);
	add_title(p, class, &name);
	if (name.len <= room) {
		head = name.len;
		room = 0;
	} else if (head + 3 > room) {
		head = room - 3;
	}
	snprintf(out, HEADER_TITLE_MAX + 1, "%.*s%s%s%s", (int)head, strbuf_str(&name),
		 room ? "..." : "",
		 room ? strbuf_str(&name) + name.len - (room - 3 - head) : "", mask);
	utf8_no_controls(out);
}

/* Is another class called the same if titles are cut so? */
static bool is_mistaken(const struct profile *p, size_t class, const char *title)
{
	char other[HEADER_TITLE_MAX + 1];

	for (size_t c = 0; c < p->nr_classes; c++) {
		if (c == class)
			continue;
		cut_title(p, c, HEADER_TITLE_MAX, other);
		if (!strcmp(other, title))
			return true;
	}
	return false;
}

void header_title(const struct profile *p, size_t class, char out[HEADER_TITLE_MAX + 1])
{
	cut_title(p, class, HEADER_TITLE_MAX, out);
	if (is_mistaken(p, class, out))
		cut_title(p, class, HEADER_TITLE_HEAD, out);
}
