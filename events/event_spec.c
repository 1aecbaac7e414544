/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "events/event_spec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/opt.h"

enum { MAX_TEXT = 256 };

static int set_count(struct ev_spec *s, unsigned long long value)
{
	s->count = value;
	return 0;
}

static int set_unit_mask(struct ev_spec *s, unsigned long long value)
{
	s->unit_mask = value;
	return 0;
}

static int set_kernel(struct ev_spec *s, unsigned long long value)
{
	s->kernel = value;
	return 0;
}

static int set_user(struct ev_spec *s, unsigned long long value)
{
	s->user = value;
	return 0;
}

/* The fields behind the name, in order. */
static const struct field {
	const char *name;
	unsigned long long min, max;
	int (*set)(struct ev_spec *s, unsigned long long value);
} fields[] = {
	/* a sample file's header holds 32 bits of count and of unit mask */
	{ "count", 0, UINT32_MAX, set_count },
	{ "unit mask", 0, 0xffff, set_unit_mask },
	{ "kernel", 0, 1, set_kernel },
	{ "user", 0, 1, set_user },
};

enum { NR_FIELDS = sizeof(fields) / sizeof(fields[0]) };

static int parse_fields(char *rest, const char *text, struct ev_spec *s, struct err *err)
{
	struct err why = { 0 };
	unsigned long long value;
	char *word;

	for (int i = 0; (word = strsep(&rest, ":")); i++) {
		if (i == NR_FIELDS)
			return err_set(err, -EINVAL,
				       "event %s: more than five fields: it is "
				       "NAME:COUNT:UNITMASK:KERNEL:USER",
				       text);
		if (!*word)
			continue;
		if (opt_number(word, fields[i].name, fields[i].min, fields[i].max, &value,
			       &why))
			return err_set(err, -EINVAL,
				       "event %s: %s; write NAME:COUNT:UNITMASK:KERNEL:USER, "
				       "as cycles:100000:0:0:1 for user code only",
				       text, why.msg);
		fields[i].set(s, value);
	}
	return 0;
}

static int unknown(const char *name, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf hint = { 0 };

	ev_event_suggest(name, &hint);
	if (!hint.len)
		strbuf_puts(&hint, "events are TIMER, cycles, instructions, cache-misses, "
				   "branch-misses, page-faults, context-switches, rNNN for "
				   "a raw code, ...");
	return err_set(err, -ENOENT, "event %s: there is no event of this name; %s", name,
		       strbuf_str(&hint));
}

/* What no kernel could count. */
static int check(const struct ev_spec *s, const char *text, struct err *err)
{
	if (!s->kernel && !s->user)
		return err_set(err, -EINVAL,
			       "event %s: neither kernel nor user code would be sampled; "
			       "set one of the last two fields to 1",
			       text);
	if (s->unit_mask && !s->event.raw)
		return err_set(err, -EINVAL,
			       "event %s: %s has no unit masks; write 0, or give the "
			       "event as a raw code, rNNN",
			       text, s->event.name);
	if (s->unit_mask > 0xff)
		return err_set(err, -EINVAL,
			       "event %s: the unit mask of a raw code has 8 bits", text);
	return 0;
}

int ev_spec_parse(const char *text, struct ev_spec *out, struct err *err)
{
	struct ev_spec s = { .kernel = true, .user = true };
	char copy[MAX_TEXT], *rest = copy, *name;
	int rc;

	if (strlen(text) >= sizeof(copy))
		return err_set(err, -EINVAL, "event %.40s...: too long", text);
	strcpy(copy, text);
	name = strsep(&rest, ":");
	if (!*name)
		return err_set(err, -EINVAL, "event \"%s\": no event name", text);
	if (!ev_event_find(name, &s.event, s.raw_name))
		return unknown(name, err);
	rc = parse_fields(rest, text, &s, err);
	if (!rc)
		rc = check(&s, text, err);
	if (!rc)
		ev_spec_copy(out, &s);
	return rc;
}

void ev_spec_copy(struct ev_spec *to, const struct ev_spec *from)
{
	*to = *from;
	if (to->event.raw)
		to->event.name = to->raw_name;
}

uint64_t ev_spec_config(const struct ev_spec *spec)
{
	return spec->event.perf_config | spec->unit_mask << 8;
}
