/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/map.h"
#include "events/table_impl.h"

uint32_t ev_mask_number(const struct ev_mask *m)
{
	return m->extra && !m->raw ? m->extra | m->value << 8 : m->value;
}

const struct ev_mask *ev_masks_by_name(const struct ev_masks *s, const char *name)
{
	vec_for(&s->all, m)
		if (m->name && !strcasecmp(m->name, name))
			return m;
	return NULL;
}

const struct ev_mask *ev_masks_by_number(const struct ev_masks *s, uint32_t number,
					 bool *several)
{
	const struct ev_mask *found = NULL;

	*several = false;
	vec_for(&s->all, m)
		if (ev_mask_number(m) == number)
			return m;
	vec_for(&s->all, m) {
		if (m->value != number)
			continue;
		*several = found;
		found = m;
		if (*several)
			return NULL;
	}
	return found;
}

bool ev_masks_sum(const struct ev_masks *s, uint32_t number)
{
	uint32_t left = number;

	vec_for(&s->all, m)
		if (!m->extra && !m->raw)
			left &= ~m->value;
	return s->type == EV_BITMASK && number && !left;
}

uint32_t ev_masks_default(const struct ev_masks *s, const struct ev_mask **mask)
{
	bool several;

	if (s->default_name)
		*mask = ev_masks_by_name(s, s->default_name);
	else
		*mask = ev_masks_by_number(s, s->default_value, &several);
	return *mask ? ev_mask_number(*mask) : s->default_value;
}

static int check_pair(const struct ev_parse *at, const struct ev_masks *s,
		      const struct ev_mask *a, const struct ev_mask *b)
{
	if (ev_mask_number(a) == ev_mask_number(b))
		return ev_bad(at, "%s: unit mask 0x%x is there already (line %u)",
			      s->name, a->value, b->line);
	if (a->name && b->name && !strcasecmp(a->name, b->name))
		return ev_bad(at, "%s: unit mask name %s is there already (line %u)",
			      s->name, a->name, b->line);
	return 0;
}

static int check_default(const struct ev_parse *at, const struct ev_masks *s)
{
	bool several;

	if (s->default_name)
		return ev_masks_by_name(s, s->default_name)
			       ? 0
			       : ev_bad(at,
					"%s: no unit mask is called %.60s, its default",
					s->name, s->default_name);
	if (ev_masks_by_number(s, s->default_value, &several) ||
	    ev_masks_sum(s, s->default_value))
		return 0;
	return ev_bad(at, "%s: its default 0x%x is none of its unit masks%s", s->name,
		      s->default_value, several ? " alone: give its name" : "");
}

static int check_raw(const struct ev_parse *at, const struct ev_masks *s)
{
	vec_for(&s->all, m)
		if (m->raw && s->type == EV_BITMASK)
			return ev_bad(
				at,
				"%s: unit mask 0x%x with config= or config1= cannot "
				"be of a bitmask",
				s->name, m->value);
	return 0;
}

int ev_check_masks(const struct ev_parse *p, const struct ev_masks *s)
{
	struct ev_parse at = *p;
	int rc = 0;

	at.line = s->line;
	if (!s->all.len)
		return ev_bad(&at, "%s has no unit masks", s->name);
	if (s->type == EV_MANDATORY && s->all.len != 1)
		return ev_bad(&at,
			      "%s is mandatory and has %zu unit masks instead of one",
			      s->name, s->all.len);
	for (size_t i = 0; i < s->all.len && !rc; i++) {
		at.line = s->all.data[i].line;
		for (size_t j = 0; j < i && !rc; j++)
			rc = check_pair(&at, s, &s->all.data[i], &s->all.data[j]);
	}
	at.line = s->line;
	rc = rc ? rc : check_raw(&at, s);
	return rc ? rc : check_default(&at, s);
}

static int check_names(const struct ev_parse *at, struct map *seen)
{
	const struct ev_table *t = at->t;
	struct ev_parse p = *at;
	uint64_t twin;

	for (size_t i = 0; i < t->defs.len; i++) {
		const struct ev_def *d = &t->defs.data[i];

		p.file = d->file;
		p.line = d->line;
		if (map_get(seen, d->name, strlen(d->name), &twin))
			return ev_bad(&p, "event %s is there already: %s:%u", d->name,
				      t->defs.data[twin].file, t->defs.data[twin].line);
		if (map_set(seen, d->name, strlen(d->name), i))
			return ev_no_memory(&p);
	}
	return 0;
}

int ev_check_table(const struct ev_parse *p)
{
	struct map seen = { 0 };
	struct ev_parse at = *p;
	int rc = check_names(p, &seen);

	map_fini(&seen);
	vec_for(&p->t->masks, s) {
		at.file = (*s)->file;
		at.line = (*s)->line;
		if (!rc && !(*s)->used && !(*s)->included)
			rc = ev_bad(&at, "unit mask %s is of no event", (*s)->name);
	}
	return rc;
}
