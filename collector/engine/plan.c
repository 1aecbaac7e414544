/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/engine/plan.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "collector/source/counters.h"
#include "collector/source/stream_events.h"

/* OProfile's numbers of processor types: doc/internals.md "Sample files". */
enum { CPU_TIMER = 4, CPU_ARCH_PERFMON = 41, CPU_X86_GENERIC = 69 };

struct cpu {
	double mhz;
	bool intel;
};

static void read_cpu(struct cpu *cpu)
{
	CLEANUP(close_file) FILE *f = fopen("/proc/cpuinfo", "re");
	char line[4096];

	*cpu = (struct cpu){ 0 };
	while (f && fgets(line, sizeof(line), f) && line[0] != '\n') {
		const char *value = strchr(line, ':');

		if (value && !strncmp(line, "cpu MHz", 7))
			cpu->mhz = strtod(value + 1, NULL);
		if (value && !strncmp(line, "vendor_id", 9))
			cpu->intel = strstr(value, "GenuineIntel");
	}
}

/* Codes by which OProfile's table of arch_perfmon calls perf's generic events. */
static const struct code {
	uint64_t config; /* PERF_COUNT_HW_* */
	uint32_t code;
} codes[] = {
	{ 0, 0x3c }, { 1, 0xc0 }, { 2, 0x2e }, { 3, 0x2e }, { 4, 0xc4 }, { 5, 0xc5 },
};

static uint32_t event_code(const struct coll_event *e, const struct cpu *cpu)
{
	struct ev_attr attr;

	ev_spec_encode(&e->spec, &attr);
	if (e->spec.event.raw)
		return (uint32_t)(attr.config & 0xff);
	if (attr.type == PERF_TYPE_RAW)
		return (uint32_t)e->spec.event.def->code;
	for (size_t i = 0; cpu->intel && attr.type == PERF_TYPE_HARDWARE &&
			   i < sizeof(codes) / sizeof(codes[0]);
	     i++)
		if (codes[i].config == attr.config)
			return codes[i].code;
	return 0;
}

static void describe(const struct coll_event *e, const struct cpu *cpu,
		     struct coll_sink_event *out)
{
	*out = (struct coll_sink_event){
		.name = e->spec.event.name,
		.count = e->period,
		.unit_mask = e->spec.unit_mask,
		.cpu_type = e->spec.event.is_time ? CPU_TIMER
			    : cpu->intel          ? CPU_ARCH_PERFMON
						  : CPU_X86_GENERIC,
		.code = event_code(e, cpu),
		.cpu_mhz = cpu->mhz,
	};
}

static int check_rate(uint64_t hz, const char *what, struct err *err)
{
	long max = coll_sysctl("perf_event_max_sample_rate", 0);

	if (max <= 0 || hz <= (uint64_t)max)
		return 0;
	return err_set(
		err, -EINVAL,
		"%s: %llu samples a second are more than the kernel allows: ask for "
		"at most %ld, or: sysctl kernel.perf_event_max_sample_rate=%llu",
		what, (unsigned long long)hz, max, (unsigned long long)hz);
}

/* How often: a count that was given; else by the rate, as a count where that is
 * possible. */
static int set_period(struct coll_event *e, const struct coll_options *o,
		      const struct cpu *cpu, struct err *err)
{
	const struct ev_event *ev = &e->spec.event;
	uint64_t hz = coll_options_hz(o);
	int rc = 0;

	e->period = e->spec.count;
	if (!e->period && ev->is_time)
		e->period = 1000000000ULL / hz;
	if (!e->period && ev->is_cycles && cpu->mhz > 0)
		e->period = (uint64_t)(cpu->mhz * 1e6) / hz;
	if (!e->period && !o->rate_hz)
		e->period = ev->default_count;
	if (!e->period)
		e->rate_hz = hz;
	if (ev->is_time && e->period)
		rc = check_rate(1000000000ULL / e->period, ev->name, err);
	else if (!e->spec.count && (!e->period || ev->is_cycles))
		rc = check_rate(hz, ev->name, err);
	return rc;
}

/* Two events of one name and count would share a file: each sample would be both. */
static int check_twins(const struct coll_options *o, struct err *err)
{
	for (size_t i = 0; i < o->events.len; i++)
		for (size_t j = 0; j < i; j++) {
			const struct coll_event *a = &o->events.data[i];
			const struct coll_event *b = &o->events.data[j];

			if (!strcmp(a->spec.event.name, b->spec.event.name) &&
			    a->period == b->period &&
			    a->spec.unit_mask == b->spec.unit_mask)
				return err_set(
					err, -EINVAL,
					"event %s is given twice with the same count",
					a->spec.event.name);
		}
	return 0;
}

double coll_cpu_mhz(void)
{
	struct cpu cpu;

	read_cpu(&cpu);
	return cpu.mhz;
}

int coll_plan_init(struct coll_plan *p, struct coll_options *o, struct err *err)
{
	struct coll_event by_default = { 0 };
	struct cpu cpu;
	int rc = 0;

	read_cpu(&cpu);
	if (!o->events.len && !o->ext.events.len) {
		rc = ev_spec_parse(coll_default_event(), &by_default.spec, err);
		if (!rc && vec_push(&o->events, by_default))
			rc = err_errno(err, -ENOMEM, "events");
	}
	vec_for(&o->events, e)
		if (!rc)
			rc = set_period(e, o, &cpu, err);
	if (!rc)
		rc = check_twins(o, err);
	if (!rc && o->source->limited)
		rc = coll_counters_check(o->events.data, o->events.len, err);
	if (rc)
		return rc;
	p->sink = calloc(o->events.len + o->ext.events.len, sizeof(*p->sink));
	if (!p->sink)
		return err_errno(err, -ENOMEM, "events");
	for (size_t i = 0; i < o->events.len; i++)
		describe(&o->events.data[i], &cpu, &p->sink[i]);
	for (size_t i = 0; i < o->ext.events.len; i++)
		coll_stream_events_describe(&o->ext.events.data[i],
					    &p->sink[o->events.len + i]);
	return 0;
}

void coll_plan_fini(struct coll_plan *p)
{
	free(p->sink);
	p->sink = NULL;
}
