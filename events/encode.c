/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "events/encode.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/number.h"

/* What ext: names, where it is no unit of the machine's own. */
static const struct kind {
	const char *ext;
	uint32_t type;
} kinds[] = {
	{ "perf_hardware", PERF_TYPE_HARDWARE },
	{ "perf_software", PERF_TYPE_SOFTWARE },
	{ "perf_hw_cache", PERF_TYPE_HW_CACHE },
};

static const struct kind *kind_of(const struct ev_def *d)
{
	for (size_t i = 0; d->ext && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].ext, d->ext))
			return &kinds[i];
	return NULL;
}

static bool is_x86(const struct ev_table *t)
{
	return !strncmp(t->cpu, "i386/", 5) || !strncmp(t->cpu, "x86-64/", 7);
}

/* Codes of the manuals have 8 or, AMD's, 12 bits; what has more is a configuration. */
static uint64_t place_code(const struct ev_table *t, const struct ev_def *d)
{
	if (d->ext || !is_x86(t) || d->code > 0xfff)
		return d->code;
	return (d->code & 0xff) | (d->code & 0xf00) << 24;
}

static uint64_t mask_bits(const struct ev_mask *m, uint32_t number)
{
	if (m && m->raw)
		return m->config;
	if (m)
		return (uint64_t)m->value << 8 | (m->extra & ~EV_PEBS);
	return (uint64_t)number << 8;
}

void ev_encode(const struct ev_table *t, const struct ev_def *d,
	       const struct ev_mask *mask, uint32_t number, struct ev_attr *out)
{
	const struct kind *kind = kind_of(d);

	*out = (struct ev_attr){
		.pmu = d->ext && !kind ? d->ext : NULL,
		.type = kind ? kind->type : PERF_TYPE_RAW,
		.config = place_code(t, d) | mask_bits(mask, number),
		.config1 = mask ? mask->config1 : 0,
		.precise = mask && mask->extra & EV_PEBS ? 2 : 0,
	};
}

int ev_attr_resolve(struct ev_attr *a, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	char path[160];
	uint64_t type;

	if (!a->pmu)
		return 0;
	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", a->pmu);
	if (file_slurp(AT_FDCWD, path, 64, &text, NULL) || !text.len)
		return err_set(
			err, -ENODEV,
			"this machine has no %s: the processor does not have it, a "
			"hypervisor hides it, or the kernel has no driver for it",
			a->pmu);
	if (!number_digits(text.data, 10, &type) || type > UINT32_MAX)
		return err_set(err, -EINVAL, "%s: is no number", path);
	a->type = (uint32_t)type;
	return 0;
}

/* ---- the driver */

static void add(struct ev_driver *out, const char *name, uint64_t value)
{
	out->files[out->nr++] = (struct ev_driver_file){ name, value };
}

/* What the files of a counter take, and what goes into "extra". */
static void split(const struct ev_wish *w, uint64_t *code, uint64_t *mask,
		  uint64_t *extra)
{
	const struct ev_mask *m = w->mask;
	uint64_t all = !m ? w->number : m->raw ? 0 : m->value;

	*extra = m && m->raw ? m->config : m ? m->extra & ~EV_PEBS : 0;
	*extra |= (all & ~0xffull) << 8;
	*mask = all & 0xff;
	*code = w->def->code;
	if (w->def->ext || *code <= 0xfff)
		return;
	/* A configuration. */
	*extra |= *code & ~0xffull;
	*code &= 0xff;
}

static int add_counter(const struct ev_wish *w, const struct kind *kind, unsigned counter,
		       struct ev_driver *out, struct err *err)
{
	uint64_t code, mask, extra;

	split(w, &code, &mask, &extra);
	if (kind && kind->type == PERF_TYPE_SOFTWARE)
		return err_set(
			err, -EINVAL,
			"%s: the driver takes events of the hardware and its timer",
			w->def->name);
	if (w->mask && (w->mask->config1 || w->mask->extra & EV_PEBS))
		return err_set(err, -EINVAL,
			       "%s: the driver's counters know no precise events and no "
			       "config1",
			       w->def->name);
	snprintf(out->dir, sizeof(out->dir), "%u", counter);
	add(out, "type", kind ? kind->type : PERF_TYPE_RAW);
	add(out, "event", code);
	add(out, "unit_mask", mask);
	add(out, "extra", extra);
	return 0;
}

static void add_raw(const struct ev_wish *w, unsigned counter, struct ev_driver *out)
{
	snprintf(out->dir, sizeof(out->dir), "%u", counter);
	add(out, "type", PERF_TYPE_RAW);
	add(out, "event", w->config & 0xff);
	/* Only x86 has unit masks: as "extra" the bits are what they are everywhere. */
	add(out, "unit_mask", 0);
	add(out, "extra", w->config & ~0xffull);
}

static void add_unit(const struct ev_wish *w, struct ev_driver *out)
{
	snprintf(out->dir, sizeof(out->dir), "%.15s", w->def->ext);
	add(out, "unit_mask", w->mask ? w->mask->value : w->number);
}

int ev_encode_driver(const struct ev_wish *w, unsigned counter, struct ev_driver *out,
		     struct err *err)
{
	const struct kind *kind = w->def ? kind_of(w->def) : NULL;
	int rc = 0;

	*out = (struct ev_driver){ 0 };
	if (!w->def)
		add_raw(w, counter, out);
	else if (!w->def->ext || kind)
		rc = add_counter(w, kind, counter, out, err);
	else
		add_unit(w, out);
	if (rc)
		return rc;
	add(out, "count", w->count);
	add(out, "kernel", w->kernel);
	add(out, "user", w->user);
	add(out, "enabled", 1);
	return 0;
}
