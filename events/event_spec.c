/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "events/event_spec.h"

#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/opt.h"

enum { MAX_TEXT = 256, MAX_SHOWN = 12 };

/* What is sampled has a count, which is the first field behind the name. */
static const char sampled[] = "it is NAME:COUNT:UNITMASK:KERNEL:USER, as "
			      "cycles:100000:0:0:1 for user code only";
static const char counted[] = "it is NAME:UNITMASK:KERNEL:USER, as cycles:0:0:1 for "
			      "user code only (a COUNT is for samples)";

/* The fields behind the name, in order; NULL: not given. */
struct fields {
	const char *syntax; /* one of the above */
	const char *count, *mask, *kernel, *user;
};

/* ---- unit masks */

/* Appends the unit masks of a set that may be asked for: "0x1 (edge), 0x2". */
static void add_allowed(const struct ev_masks *s, struct strbuf *out)
{
	size_t shown = 0;

	vec_for(&s->all, m) {
		if (shown == MAX_SHOWN) {
			strbuf_printf(out, ", ... (%zu in all)", s->all.len);
			return;
		}
		strbuf_printf(out, "%s0x%x", shown++ ? ", " : "", ev_mask_number(m));
		if (m->name)
			strbuf_printf(out, " (%s)", m->name);
	}
	if (s->type == EV_BITMASK)
		strbuf_puts(out, ", and sums of them");
}

static int bad_mask(const struct ev_masks *s, const char *text, const char *given,
		    const char *why, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf allowed = { 0 };

	add_allowed(s, &allowed);
	return err_set(err, -EINVAL, "event %s: unit mask %s %s: there %s %s", text,
		       given, why, s->all.len == 1 ? "is only" : "are",
		       strbuf_str(&allowed));
}

static int set_table_mask(const struct ev_masks *s, const char *given, const char *text,
			  struct ev_spec *out, struct err *err)
{
	unsigned long long number;
	bool several;

	if (!given) {
		out->unit_mask = ev_masks_default(s, &out->mask);
		return 0;
	}
	out->mask = ev_masks_by_name(s, given);
	if (out->mask) {
		out->unit_mask = ev_mask_number(out->mask);
		return 0;
	}
	if (!isdigit((unsigned char)*given))
		return bad_mask(s, text, given, "is no name of one", err);
	if (opt_number(given, "unit mask", 0, UINT32_MAX, &number, NULL))
		return bad_mask(s, text, given, "is no number", err);
	out->mask = ev_masks_by_number(s, (uint32_t)number, &several);
	if (several)
		return bad_mask(s, text, given, "may be several; give its name", err);
	if (!out->mask && !ev_masks_sum(s, (uint32_t)number))
		return bad_mask(s, text, given, "is not allowed", err);
	out->unit_mask = out->mask ? ev_mask_number(out->mask) : number;
	return 0;
}

static int set_mask(const struct fields *f, const char *text, struct ev_spec *s,
		    struct err *err)
{
	const char *given = f->mask;
	const struct ev_masks *masks = s->event.def ? s->event.def->masks : NULL;
	unsigned long long number = 0;
	struct err why = { 0 };

	if (masks)
		return set_table_mask(masks, given, text, s, err);
	if (given && opt_number(given, "unit mask", 0, UINT32_MAX, &number, &why))
		return err_set(err, -EINVAL, "event %s: %s; %s", text, why.msg,
			       f->syntax);
	s->unit_mask = number;
	if (number && !s->event.raw)
		return err_set(err, -EINVAL,
			       "event %s: %s has no unit masks; write 0, or give the "
			       "event as a raw code, rNNN; %s",
			       text, s->event.name, f->syntax);
	if (number > 0xff)
		return err_set(err, -EINVAL,
			       "event %s: the unit mask of a raw code has 8 bits", text);
	return 0;
}

/* ---- the rest */

static int set_count(const struct fields *f, const char *text, struct ev_spec *s,
		     struct err *err)
{
	const struct ev_def *d = s->event.def;
	bool ibs = d && d->ext && !strncmp(d->ext, "ibs_", 4);
	struct err why = { 0 };
	unsigned long long count = 0;

	if (ibs && f->syntax == counted)
		return err_set(err, -EINVAL,
			       "event %s: IBS takes samples, and counts nothing", text);
	/* a sample file's header holds 32 bits of it */
	if (f->count && opt_number(f->count, "count", 0, UINT32_MAX, &count, &why))
		return err_set(err, -EINVAL, "event %s: %s; %s", text, why.msg,
			       f->syntax);
	s->count = count;
	if (count && d && count < d->minimum)
		return err_set(
			err, -EINVAL,
			"event %s: a sample every %llu events is too often for %s: "
			"the least is %llu",
			text, count, d->name, (unsigned long long)d->minimum);
	/* the lowest four bits are not there */
	if (count % 16 && ibs)
		return err_set(
			err, -EINVAL,
			"event %s: IBS takes counts that are multiples of 16: %llu or "
			"%llu",
			text, count & ~15ull, (count | 15) + 1);
	return 0;
}

static int set_flag(const struct fields *f, const char *given, const char *what,
		    const char *text, bool *flag, struct err *err)
{
	struct err why = { 0 };
	unsigned long long value;

	if (!given)
		return 0;
	if (opt_number(given, what, 0, 1, &value, &why))
		return err_set(err, -EINVAL, "event %s: %s; %s", text, why.msg,
			       f->syntax);
	*flag = value;
	return 0;
}

/* The words for KERNEL and USER together. */
static bool set_mode(const char *word, struct ev_spec *s)
{
	bool sys = !strcmp(word, "sys") || !strcmp(word, "kernel");

	if (!sys && strcmp(word, "user") != 0)
		return false;
	s->kernel = sys;
	s->user = !sys;
	return true;
}

/* What perf writes behind a name, beside u and k, and what there is instead. */
static const struct modifier {
	char letter;
	const char *instead;
} modifiers[] = {
	{ 'p', "a sample is where the interrupt came; IBS_OP_ALL is exact, on AMD's" },
	{ 'P', "a sample is where the interrupt came; IBS_OP_ALL is exact, on AMD's" },
	{ 'h', "samples of hypervisors are not stored; leave it out" },
	{ 'G', "guests are profiled inside the guest; leave it out" },
	{ 'H', "the host alone is sampled in any case; leave it out" },
	{ 'D', "an event keeps its counter only while it is its turn; leave it out" },
	{ 'S', "counters are not read with samples; leave it out" },
	{ 'I', "idle time is sampled as well; leave it out" },
};

static const char *modifier_instead(char letter)
{
	for (size_t i = 0; i < sizeof(modifiers) / sizeof(modifiers[0]); i++)
		if (modifiers[i].letter == letter)
			return modifiers[i].instead;
	return "there is no such modifier";
}

/* perf's "u", "k", "uk" for KERNEL and USER.  1: it is these; 0: something else. */
static int set_modifiers(const struct fields *f, const char *word, const char *text,
			 struct ev_spec *s, struct err *err)
{
	const char *other = word + strspn(word, "uk");

	/* where a unit mask may stand, it may have a name */
	if (!*word || (*other && f->syntax == counted))
		return 0;
	for (const char *c = word; *c; c++)
		if (!isalpha((unsigned char)*c))
			return 0;
	if (*other)
		return err_set(
			err, -EINVAL,
			"event %s: perf's modifier \"%c\" is not known here: %s; u "
			"and k are known, and %s",
			text, *other, modifier_instead(*other), f->syntax);
	s->user = strchr(word, 'u');
	s->kernel = strchr(word, 'k');
	return 1;
}

static int split(char *rest, const char *text, struct fields *f, struct ev_spec *s,
		 struct err *err)
{
	const char **all[] = { &f->count, &f->mask, &f->kernel, &f->user };
	size_t i = f->syntax == counted;
	size_t first = i;
	char *word;

	while ((word = strsep(&rest, ":"))) {
		int rc;

		if (i == 4)
			return err_set(err, -EINVAL, "event %s: more than %s fields: %s",
				       text, f->syntax == counted ? "four" : "five",
				       f->syntax);
		rc = i < 3 && set_mode(word, s);
		if (!rc && i == first)
			rc = set_modifiers(f, word, text, s, err);
		if (rc < 0)
			return rc;
		if (rc) {
			if (rest)
				return err_set(err, -EINVAL,
					       "event %s: nothing may follow \"%s\"; %s",
					       text, word, f->syntax);
			return 0;
		}
		if (*word)
			*all[i] = word;
		i++;
	}
	return 0;
}

/* perf's GROUP:NAME: what follows the colon is a word, and none that says which mode. */
static bool is_tracepoint(const char *rest)
{
	struct ev_spec any;

	return rest && isalpha((unsigned char)*rest) &&
	       strspn(rest, "ukpPhGHDSI") < strcspn(rest, ":") && !set_mode(rest, &any);
}

static int unknown(const struct ev_tables *in, const char *name, const char *rest,
		   struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf hint = { 0 };

	if (strchr(name, '/'))
		return err_set(
			err, -ENOENT,
			"event %s: perf's PMU/TERMS/ is not known here; a raw code "
			"is rNNN, unit mask before event: cpu/event=0x3c,umask=1/ "
			"is r13c",
			name);
	ev_event_suggest(in, name, &hint);
	if (!hint.len)
		strbuf_puts(&hint, "opcollect events lists what there is: TIMER, cycles, "
				   "instructions, cache-misses, page-faults, rNNN for a "
				   "raw code, ...");
	if (is_tracepoint(rest))
		return err_set(err, -ENOENT,
			       "event %s:%s: there is no event of this name, and perf's "
			       "tracepoints are not known here; %s",
			       name, rest, strbuf_str(&hint));
	return err_set(err, -ENOENT, "event %s: there is no event of this name; %s", name,
		       strbuf_str(&hint));
}

static int parse(const struct ev_tables *in, const char *syntax, const char *text,
		 struct ev_spec *out, struct err *err)
{
	struct ev_spec s = { .kernel = true, .user = true };
	struct fields f = { .syntax = syntax };
	char copy[MAX_TEXT], *rest = copy, *name;
	int rc;

	if (strlen(text) >= sizeof(copy))
		return err_set(err, -EINVAL, "event %.40s...: too long", text);
	strcpy(copy, text);
	name = strsep(&rest, ":");
	if (!*name)
		return err_set(err, -EINVAL, "event \"%s\": no event name", text);
	if (!ev_event_find(in, name, &s.event, s.raw_name))
		return unknown(in, name, rest, err);
	rc = rest ? split(rest, text, &f, &s, err) : 0;
	rc = rc ? rc : set_count(&f, text, &s, err);
	rc = rc ? rc : set_flag(&f, f.kernel, "kernel", text, &s.kernel, err);
	rc = rc ? rc : set_flag(&f, f.user, "user", text, &s.user, err);
	rc = rc ? rc : set_mask(&f, text, &s, err);
	if (!rc && !s.kernel && !s.user)
		rc = err_set(err, -EINVAL,
			     "event %s: neither kernel nor user code would be seen; "
			     "set one of the last two fields to 1",
			     text);
	if (!rc)
		ev_spec_copy(out, &s);
	return rc;
}

int ev_spec_parse_in(const struct ev_tables *in, const char *text, struct ev_spec *out,
		     struct err *err)
{
	return parse(in, sampled, text, out, err);
}

static int parse_here(const char *syntax, const char *text, struct ev_spec *out,
		      struct err *err)
{
	const char *why;
	const struct ev_tables *tables = ev_machine_tables(&why);
	int rc = parse(tables, syntax, text, out, err);

	if (rc == -ENOENT && *why)
		return err_add(err, rc, "%s", why);
	return rc;
}

int ev_spec_parse(const char *text, struct ev_spec *out, struct err *err)
{
	return parse_here(sampled, text, out, err);
}

int ev_spec_parse_counted(const char *text, struct ev_spec *out, struct err *err)
{
	return parse_here(counted, text, out, err);
}

void ev_spec_copy(struct ev_spec *to, const struct ev_spec *from)
{
	*to = *from;
	if (to->event.raw)
		to->event.name = to->raw_name;
}

void ev_spec_encode(const struct ev_spec *spec, struct ev_attr *out)
{
	if (spec->event.raw)
		*out = (struct ev_attr){
			.type = PERF_TYPE_RAW,
			.config = spec->event.raw_config | spec->unit_mask << 8,
		};
	else
		ev_encode(spec->event.table, spec->event.def, spec->mask,
			  (uint32_t)spec->unit_mask, out);
}

int ev_spec_attr(const struct ev_spec *spec, struct ev_attr *out, struct err *err)
{
	int rc;

	ev_spec_encode(spec, out);
	rc = ev_attr_resolve(out, err);
	return rc ? err_add(err, rc, "%s", spec->event.name) : 0;
}

int ev_spec_driver(const struct ev_spec *spec, uint64_t count, unsigned counter,
		   struct ev_driver *out, struct err *err)
{
	const struct ev_wish wish = {
		.def = spec->event.def,
		.mask = spec->mask,
		.number = (uint32_t)spec->unit_mask,
		.config = spec->event.raw_config | spec->unit_mask << 8,
		.count = count,
		.kernel = spec->kernel,
		.user = spec->user,
	};

	return ev_encode_driver(&wish, counter, out, err);
}
