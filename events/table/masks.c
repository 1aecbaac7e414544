/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "events/table/masks.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <strings.h>

#include "base/opt.h"
#include "events/table/line.h"

static const char *const type_names[] = {
	[EV_MANDATORY] = "mandatory",
	[EV_EXCLUSIVE] = "exclusive",
	[EV_BITMASK] = "bitmask",
};

const char *ev_mask_type_name(enum ev_mask_type type)
{
	return type_names[type];
}

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

/* ---- checking a set */

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

static int check_masks(const struct ev_parse *p, const struct ev_masks *s)
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

/* ---- sets */

static const struct ev_masks *find(const struct ev_table *t, const char *name, size_t len)
{
	vec_for(&t->masks, s)
		if (strlen((*s)->name) == len && !memcmp((*s)->name, name, len))
			return *s;
	return NULL;
}

static struct ev_masks *new_set(struct ev_parse *p, const char *name)
{
	struct ev_masks *s = arena_alloc(&p->t->mem, sizeof(*s));

	if (!s || vec_push(&p->t->masks, s)) {
		ev_no_memory(p);
		return NULL;
	}
	s->name = ev_strdup(p, name);
	s->file = p->file;
	s->line = p->line;
	s->included = p->depth > 0;
	if (!s->name)
		ev_no_memory(p);
	return s->name ? s : NULL;
}

/* ---- "name:NAME type:TYPE default:DEFAULT" */

struct head {
	const char *name, *type, *dflt;
};

static int set_once(const struct ev_parse *p, const struct ev_tag *t, const char **field)
{
	if (*field)
		return ev_bad(p, "duplicate tag %s:", t->tag);
	*field = t->value;
	return 0;
}

static int take(const struct ev_parse *p, const struct ev_tag *t, struct head *h)
{
	if (!strcmp(t->tag, "name"))
		return set_once(p, t, &h->name);
	if (!strcmp(t->tag, "type"))
		return set_once(p, t, &h->type);
	if (!strcmp(t->tag, "default"))
		return set_once(p, t, &h->dflt);
	return ev_bad(p,
		      "unknown tag %.40s:; a set of unit masks has name:, type: and "
		      "default:",
		      t->tag);
}

static int set_type(const struct ev_parse *p, const char *text, struct ev_masks *s)
{
	for (size_t i = 0; i < sizeof(type_names) / sizeof(type_names[0]); i++)
		if (!strcmp(text, type_names[i])) {
			s->type = (enum ev_mask_type)i;
			return 0;
		}
	return ev_bad(p, "type \"%.40s\": there are mandatory, exclusive and bitmask",
		      text);
}

static int set_default(const struct ev_parse *p, const char *text, struct ev_masks *s)
{
	uint64_t value;
	int rc;

	/* names may start with a digit, too */
	if (!isdigit((unsigned char)*text) || strpbrk(text, "_-") ||
	    strspn(text, "0123456789abcdefABCDEFxX") != strlen(text)) {
		s->default_name = ev_strdup(p, text);
		return s->default_name ? 0 : ev_no_memory(p);
	}
	rc = ev_hex(p, "default", text, UINT32_MAX, &value);
	s->default_value = rc ? 0 : (uint32_t)value;
	return rc;
}

static int close_set(struct ev_parse *p)
{
	const struct ev_masks *done = p->open;

	p->open = NULL;
	return done ? check_masks(p, done) : 0;
}

static int start_set(struct ev_parse *p, const struct head *h)
{
	const struct ev_masks *twin;
	int rc;

	if (!h->name || !h->type || !h->dflt)
		return ev_bad(p, "%s: is missing",
			      !h->name   ? "name"
			      : !h->type ? "type"
					 : "default");
	rc = ev_name(p, "name", h->name);
	if (rc)
		return rc;
	twin = find(p->t, h->name, strlen(h->name));
	if (twin)
		return ev_bad(p, "unit mask %s is there already: %s:%u", h->name,
			      twin->file, twin->line);
	p->open = new_set(p, h->name);
	if (!p->open)
		return -ENOMEM;
	rc = set_type(p, h->type, p->open);
	return rc ? rc : set_default(p, h->dflt, p->open);
}

static int head_line(struct ev_parse *p, char *line)
{
	struct head h = { 0 };
	struct ev_tag t;
	int rc = close_set(p), more = 0;

	while (!rc && line && (more = ev_next_tag(p, &line, &t)) > 0) {
		if (!strcmp(t.tag, "include"))
			return h.name || h.type || h.dflt
				       ? ev_bad(p, "include: stands alone on its line")
				       : p->include(p, t.value, true);
		rc = take(p, &t, &h);
	}
	if (!rc && (more < 0 || line))
		rc = more < 0 ? more
			      : ev_bad(p, "a set of unit masks has no description");
	return rc ? rc : start_set(p, &h);
}

/* ---- "<tab>VALUE [extra:BITS NAME] DESCRIPTION" */

static const struct word {
	const char *word;
	uint32_t bits;
} words[] = {
	{ "edge", EV_EDGE },
	{ "any", EV_ANY },
	{ "inv", EV_INV },
	{ "pebs", EV_PEBS },
};

static int numbered_bit(const struct ev_parse *p, const char *word, struct ev_mask *m)
{
	uint64_t value;
	int rc;

	if (!strncmp(word, "cmask=", 6)) {
		rc = ev_hex(p, "cmask", word + 6, EV_CMASK_MAX, &value);
		m->extra |= rc ? 0 : (uint32_t)value << EV_CMASK_SHIFT;
		return rc;
	}
	if (!strncmp(word, "config=", 7)) {
		m->raw = true;
		return ev_hex(p, "config", word + 7, UINT64_MAX, &m->config);
	}
	if (!strncmp(word, "config1=", 8)) {
		m->raw = true;
		return ev_hex(p, "config1", word + 8, UINT64_MAX, &m->config1);
	}
	return ev_bad(p,
		      "extra: \"%.40s\": there are edge, any, inv, pebs, cmask=N, "
		      "config=N and config1=N",
		      word);
}

static int extra_bit(const struct ev_parse *p, const char *word, struct ev_mask *m)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(word, words[i].word)) {
			m->extra |= words[i].bits;
			return 0;
		}
	return numbered_bit(p, word, m);
}

/* A specification takes what reads as a number for one, so a name must not. */
static int mask_name(const struct ev_parse *p, const char *name)
{
	unsigned long long number;
	int rc = ev_name(p, "the unit mask's name", name);

	if (!rc && !opt_number(name, "", 0, ULLONG_MAX, &number, NULL))
		rc = ev_bad(p, "the unit mask's name %.60s reads as a number", name);
	return rc;
}

/* Cuts the first word off. */
static char *cut_word(char **rest)
{
	char *word = *rest;

	*rest = word + strcspn(word, " \t\r");
	if (**rest)
		*(*rest)++ = '\0';
	*rest += strspn(*rest, " \t\r");
	return word;
}

static int set_extra(const struct ev_parse *p, char *bits, char **rest, struct ev_mask *m)
{
	const char *name = cut_word(rest);
	char *word;
	int rc = 0;

	while (!rc && bits && *bits && (word = strsep(&bits, ",")))
		rc = extra_bit(p, word, m);
	if (!rc)
		rc = mask_name(p, name);
	if (!rc && m->raw && (m->extra & ~EV_PEBS))
		rc = ev_bad(p, "extra: config= and config1= tell all bits; only pebs may "
			       "stand beside them");
	if (!rc && m->extra && !m->raw && m->value > 0xff)
		rc = ev_bad(p, "unit mask 0x%x: with extra bits it has 8 bits at most",
			    m->value);
	m->name = rc ? NULL : ev_strdup(p, name);
	return rc || m->name ? rc : ev_no_memory(p);
}

static int mask_line(struct ev_parse *p, char *line)
{
	struct ev_mask m = { .line = p->line };
	char *rest = line + strspn(line, " \t\r");
	const char *value = cut_word(&rest);
	uint64_t number;
	int rc = ev_hex(p, "unit mask", value, UINT32_MAX, &number);

	if (rc)
		return rc;
	if (!p->open)
		return ev_bad(p, "a unit mask before any line \"name:...\"");
	m.value = (uint32_t)number;
	if (!strncmp(rest, "extra:", 6)) {
		char *bits = cut_word(&rest);

		rc = set_extra(p, bits + 6, &rest, &m);
	}
	if (!rc && !*rest)
		rc = ev_bad(p, "unit mask %s has no description", value);
	if (rc)
		return rc;
	if (p->open->all.len == EV_MAX_MASKS)
		return ev_bad(p, "%s has more than %d unit masks", p->open->name,
			      EV_MAX_MASKS);
	m.doc = ev_strdup(p, rest);
	if (!m.doc || vec_push(&p->open->all, m))
		return ev_no_memory(p);
	return 0;
}

int ev_mask_line(struct ev_parse *p, char *line)
{
	if (!line)
		return close_set(p);
	return *line == ' ' || *line == '\t' ? mask_line(p, line) : head_line(p, line);
}

/* ---- what events ask for */

/* Puts the masks of @from behind those of @to. */
static int append(struct ev_parse *p, struct ev_masks *to, const struct ev_masks *from)
{
	if (to->all.len && to->type != from->type)
		return ev_bad(p, "um: %s is %s and %s is not", from->name,
			      type_names[from->type], type_names[to->type]);
	if (to->all.len + from->all.len > EV_MAX_MASKS)
		return ev_bad(p, "um: more than %d unit masks", EV_MAX_MASKS);
	vec_for(&from->all, m)
		if (vec_push(&to->all, *m))
			return ev_no_memory(p);
	return 0;
}

/* A set of the masks of all sets named, with the first one's type and default. */
static const struct ev_masks *join(struct ev_parse *p, const char *names)
{
	struct ev_masks *sum = NULL;
	int rc = 0;

	for (const char *at = names; !rc && *at; at += *at == ',') {
		size_t len = strcspn(at, ",");
		const struct ev_masks *part = find(p->t, at, len);

		if (!part) {
			ev_bad(p, "um: no unit mask \"%.*s\"", (int)(len & 0xff), at);
			return NULL;
		}
		((struct ev_masks *)part)->used = true;
		if (!sum) {
			sum = new_set(p, names);
			if (!sum)
				return NULL;
			sum->type = part->type;
			sum->default_value = part->default_value;
			sum->default_name = part->default_name;
		}
		rc = append(p, sum, part);
		at += len;
	}
	if (!rc && !sum)
		ev_bad(p, "um: no unit mask \"%.60s\"", names);
	return rc || !sum || check_masks(p, sum) ? NULL : sum;
}

const struct ev_masks *ev_find_masks(struct ev_parse *p, const char *name)
{
	const struct ev_masks *s = find(p->t, name, strlen(name));

	if (!s)
		s = join(p, name);
	if (s)
		((struct ev_masks *)s)->used = true;
	return s;
}
