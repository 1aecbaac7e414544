/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/opt.h"
#include "events/table_impl.h"

static const char *const type_names[] = {
	[EV_MANDATORY] = "mandatory",
	[EV_EXCLUSIVE] = "exclusive",
	[EV_BITMASK] = "bitmask",
};

const char *ev_mask_type_name(enum ev_mask_type type)
{
	return type_names[type];
}

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
	return done ? ev_check_masks(p, done) : 0;
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
				       : ev_include(p, t.value, true);
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
	return rc || !sum || ev_check_masks(p, sum) ? NULL : sum;
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
