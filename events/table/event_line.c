/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "events/table/event_line.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "events/table/line.h"

static int set_code(struct ev_parse *p, const char *value, struct ev_def *d)
{
	return ev_hex(p, "event", value, UINT64_MAX, &d->code);
}

static int set_counters(struct ev_parse *p, const char *value, struct ev_def *d)
{
	char list[256], *rest = list, *word;
	uint64_t n;

	if (!strcmp(value, "cpuid")) {
		d->cpuid_counters = true;
		return 0;
	}
	if (strlen(value) >= sizeof(list))
		return ev_bad(p, "counters: too many");
	strcpy(list, value);
	while ((word = strsep(&rest, ","))) {
		int rc = ev_decimal(p, "counter", word, 0, EV_MAX_COUNTERS - 1, &n);

		if (rc)
			return rc;
		if (d->counters & 1ull << n)
			return ev_bad(p, "counter %s is given twice", word);
		d->counters |= 1ull << n;
	}
	return 0;
}

static int set_um(struct ev_parse *p, const char *value, struct ev_def *d)
{
	d->masks = ev_find_masks(p, value);
	return d->masks ? 0 : -EINVAL;
}

static int set_minimum(struct ev_parse *p, const char *value, struct ev_def *d)
{
	return ev_decimal(p, "minimum", value, 1, UINT32_MAX, &d->minimum);
}

static int set_count(struct ev_parse *p, const char *value, struct ev_def *d)
{
	return ev_decimal(p, "default", value, 1, UINT32_MAX, &d->count);
}

static int set_name(struct ev_parse *p, const char *value, struct ev_def *d)
{
	int rc = ev_name(p, "name", value);

	d->name = rc ? NULL : ev_strdup(p, value);
	return rc || d->name ? rc : ev_no_memory(p);
}

static int set_ext(struct ev_parse *p, const char *value, struct ev_def *d)
{
	int rc = ev_name(p, "ext", value);

	d->ext = rc ? NULL : ev_strdup(p, value);
	return rc || d->ext ? rc : ev_no_memory(p);
}

static const struct tag {
	const char *name;
	int (*set)(struct ev_parse *p, const char *value, struct ev_def *d);
} tags[] = {
	{ "event", set_code },      { "counters", set_counters }, { "um", set_um },
	{ "minimum", set_minimum }, { "default", set_count },     { "name", set_name },
	{ "ext", set_ext },
};

enum { NR_TAGS = sizeof(tags) / sizeof(tags[0]), TAG_EVENT = 0, TAG_MINIMUM = 3 };

static int take(struct ev_parse *p, const struct ev_tag *t, unsigned *seen,
		struct ev_def *d)
{
	for (unsigned i = 0; i < NR_TAGS; i++) {
		if (strcmp(tags[i].name, t->tag) != 0)
			continue;
		if (*seen & 1u << i)
			return ev_bad(p, "duplicate tag %s:", t->tag);
		*seen |= 1u << i;
		return tags[i].set(p, t->value, d);
	}
	return ev_bad(
		p,
		"unknown tag %.40s:; an event has event:, counters:, um:, minimum:, "
		"default:, name:, ext: and \" : DESCRIPTION\"",
		t->tag);
}

static int check(struct ev_parse *p, unsigned seen, const struct ev_def *d,
		 const char *doc)
{
	if (!(seen & 1u << TAG_EVENT))
		return ev_bad(p, "event: is missing");
	if (!d->name)
		return ev_bad(p, "name: is missing");
	if (!(seen & 1u << TAG_MINIMUM))
		return ev_bad(p, "minimum: of %s is missing", d->name);
	if (d->count && d->count < d->minimum)
		return ev_bad(p, "default: of %s is less than its minimum", d->name);
	if (!doc || !*doc)
		return ev_bad(p, "\" : DESCRIPTION\" of %s is missing", d->name);
	if (p->t->defs.len == EV_MAX_DEFS)
		return ev_bad(p, "more than %d events", EV_MAX_DEFS);
	return 0;
}

int ev_event_line(struct ev_parse *p, char *line)
{
	struct ev_def d = { .file = p->file, .line = p->line };
	unsigned seen = 0;
	struct ev_tag t;
	int rc = 0, more = 0;

	while (!rc && line && (more = ev_next_tag(p, &line, &t)) > 0) {
		if (!strcmp(t.tag, "include"))
			return seen ? ev_bad(p, "include: stands alone on its line")
				    : p->include(p, t.value, false);
		rc = take(p, &t, &seen, &d);
	}
	if (!rc)
		rc = more < 0 ? more : check(p, seen, &d, line);
	if (rc)
		return rc;
	d.doc = ev_strdup(p, line);
	if (!d.doc || vec_push(&p->t->defs, d))
		return ev_no_memory(p);
	return 0;
}
