/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libspec/spec/class.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/strbuf.h"

static bool same_event(const struct spec_class *a, const struct spec_class *b)
{
	return a->count == b->count && !strcmp(a->event, b->event);
}

static bool same_class(const struct spec_class *a, const struct spec_class *b,
		       const struct spec_class_rules *r)
{
	return same_event(a, b) && (r->merge_unitmask || a->unit_mask == b->unit_mask) &&
	       a->tgid == b->tgid && a->tid == b->tid && a->cpu == b->cpu;
}

/* The class of one name, were it alone. */
static struct spec_class class_of(const struct spec_name *n,
				  const struct spec_class_rules *r)
{
	return (struct spec_class){
		.event = n->event,
		.count = n->count,
		.unit_mask = n->unit_mask,
		.tgid = r->split_tgid ? n->tgid : SPEC_ALL,
		.tid = r->split_tid ? n->tid : SPEC_ALL,
		.cpu = r->split_cpu ? n->cpu : SPEC_ALL,
	};
}

/* Not separated comes last. */
static int compare_ids(int64_t a, int64_t b)
{
	if (a == b)
		return 0;
	if (a == SPEC_ALL || b == SPEC_ALL)
		return a == SPEC_ALL ? 1 : -1;
	return a < b ? -1 : 1;
}

/* OProfile's order of columns: ids and unit masks as numbers, event and count as text.
 * Unit masks that were merged are not compared. */
static int compare_classes(const void *x, const void *y, void *ctx)
{
	const struct spec_class *a = x, *b = y;
	const struct spec_class_rules *r = ctx;
	char count_a[24], count_b[24];
	int order = compare_ids(a->cpu, b->cpu);

	order = order ? order : compare_ids(a->tgid, b->tgid);
	order = order ? order : compare_ids(a->tid, b->tid);
	if (order)
		return order;
	if (!r->merge_unitmask && a->unit_mask != b->unit_mask)
		return a->unit_mask < b->unit_mask ? -1 : 1;
	order = strcmp(a->event, b->event);
	if (order)
		return order;
	snprintf(count_a, sizeof(count_a), "%" PRIu64, a->count);
	snprintf(count_b, sizeof(count_b), "%" PRIu64, b->count);
	return strcmp(count_a, count_b);
}

/* @hint: where to look first; names of a class come together. */
static uint32_t find_class(const struct spec_classes *c, const struct spec_class *of,
			   const struct spec_class_rules *r, uint32_t hint)
{
	if (hint < c->nr && same_class(&c->classes[hint], of, r))
		return hint;
	for (uint32_t i = 0; i < c->nr; i++)
		if (same_class(&c->classes[i], of, r))
			return i;
	return UINT32_MAX;
}

/* ---- one axis only */

struct axis {
	enum spec_axis id;
	const char *name, *advice;
	bool (*differ)(const struct spec_class *a, const struct spec_class *b);
	void (*value)(const struct spec_class *c, struct strbuf *out);
};

static bool events_differ(const struct spec_class *a, const struct spec_class *b)
{
	return !same_event(a, b) || a->unit_mask != b->unit_mask;
}

static bool tgids_differ(const struct spec_class *a, const struct spec_class *b)
{
	return a->tgid != b->tgid;
}

static bool tids_differ(const struct spec_class *a, const struct spec_class *b)
{
	return a->tid != b->tid;
}

static bool cpus_differ(const struct spec_class *a, const struct spec_class *b)
{
	return a->cpu != b->cpu;
}

static void add_event(const struct spec_class *c, struct strbuf *out)
{
	strbuf_printf(out, "%s:%" PRIu64 ":0x%02" PRIx64, c->event, c->count,
		      c->unit_mask);
}

static void add_id(int64_t id, struct strbuf *out)
{
	if (id == SPEC_ALL)
		strbuf_puts(out, "all");
	else
		strbuf_printf(out, "%" PRId64, id);
}

static void add_tgid(const struct spec_class *c, struct strbuf *out)
{
	add_id(c->tgid, out);
}

static void add_tid(const struct spec_class *c, struct strbuf *out)
{
	add_id(c->tid, out);
}

static void add_cpu(const struct spec_class *c, struct strbuf *out)
{
	add_id(c->cpu, out);
}

static const struct axis axes[] = {
	{ SPEC_AXIS_EVENT, "event",
	  "choose one with event:, count: or unit-mask:, or merge:unitmask",
	  events_differ, add_event },
	{ SPEC_AXIS_TGID, "tgid", "choose one with tgid:, or leave out split:tgid",
	  tgids_differ, add_tgid },
	{ SPEC_AXIS_TID, "tid", "choose one with tid:, or leave out split:tid",
	  tids_differ, add_tid },
	{ SPEC_AXIS_CPU, "cpu", "choose one with cpu:, or leave out split:cpu",
	  cpus_differ, add_cpu },
};

static bool is_used(const struct spec_classes *c, const struct axis *axis)
{
	for (size_t i = 1; i < c->nr; i++)
		if (axis->differ(&c->classes[0], &c->classes[i]))
			return true;
	return false;
}

enum { MAX_VALUES = 5 };

static int conflict(const struct spec_classes *c, const struct axis *a,
		    const struct axis *b, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf values = { 0 };
	size_t nr = 0;

	for (size_t i = 0; i < c->nr; i++) {
		bool seen = false;

		for (size_t k = 0; k < i && !seen; k++)
			seen = !a->differ(&c->classes[k], &c->classes[i]);
		if (seen)
			continue;
		if (nr++ < MAX_VALUES) {
			strbuf_puts(&values, nr > 1 ? "," : "");
			a->value(&c->classes[i], &values);
		}
	}
	if (nr > MAX_VALUES)
		strbuf_printf(&values, " and %zu more", nr - MAX_VALUES);
	return err_set(err, -EINVAL,
		       "columns differ in %s (%s) and in %s as well, and a table has one "
		       "axis of columns: %s; or %s",
		       a->name, strbuf_str(&values), b->name, a->advice, b->advice);
}

/* A thread and its process may both differ if they always do so together. */
static bool same_ids(const struct spec_classes *c)
{
	for (size_t i = 0; i < c->nr; i++)
		if (c->classes[i].tid != c->classes[i].tgid)
			return false;
	return true;
}

static int find_axis(struct spec_classes *c, struct err *err)
{
	const struct axis *used = NULL;

	c->axis = SPEC_AXIS_EVENT;
	for (size_t i = 0; i < sizeof(axes) / sizeof(axes[0]); i++) {
		if (!is_used(c, &axes[i]))
			continue;
		if (used && !(used->id == SPEC_AXIS_TGID && axes[i].id == SPEC_AXIS_TID &&
			      same_ids(c)))
			return conflict(c, used, &axes[i], err);
		if (!used)
			used = &axes[i];
		c->axis = used->id;
	}
	return 0;
}

/* ---- the whole */

int spec_classes_init(struct spec_classes *c, const struct spec_name *const *names,
		      size_t nr, const struct spec_class_rules *rules, size_t max,
		      struct err *err)
{
	struct spec_class_rules by = *rules;
	uint32_t hint = 0;
	int rc;

	*c = (struct spec_classes){
		.classes = calloc(max + 1, sizeof(*c->classes)),
		.of_name = calloc(nr + 1, sizeof(*c->of_name)),
	};
	if (!c->classes || !c->of_name) {
		spec_classes_fini(c);
		return err_set(err, -ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < nr; i++) {
		struct spec_class of = class_of(names[i], rules);

		hint = find_class(c, &of, rules, hint);
		if (hint != UINT32_MAX) {
			c->classes[hint].unit_mask |= of.unit_mask;
			continue;
		}
		if (c->nr == max) {
			spec_classes_fini(c);
			return err_set(err, -E2BIG,
				       "more than %zu columns in one table: choose some "
				       "with event:, cpu:, tgid: or tid:",
				       max);
		}
		c->classes[c->nr++] = of;
	}
	qsort_r(c->classes, c->nr, sizeof(*c->classes), compare_classes, &by);
	for (size_t i = 0; i < nr; i++) {
		struct spec_class of = class_of(names[i], rules);

		hint = find_class(c, &of, rules, hint);
		c->of_name[i] = hint;
	}
	rc = find_axis(c, err);
	if (rc)
		spec_classes_fini(c);
	return rc;
}

void spec_classes_fini(struct spec_classes *c)
{
	free(c->classes);
	free(c->of_name);
	*c = (struct spec_classes){ 0 };
}
