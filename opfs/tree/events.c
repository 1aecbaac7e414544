/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/tree/events.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/vec.h"
#include "events/describe.h"
#include "events/machine.h"

/* /events: a directory for every event that this machine's tables have. */

static const char readme[] = "README";

/* The first table that has the event wins, as with opcollect record -e. */
static bool find_event(const char *name, struct ev_event *out)
{
	const struct ev_tables *tables = ev_machine_tables(NULL);

	for (unsigned i = 0; i < tables->nr; i++)
		vec_for(&tables->all[i]->defs, d)
			if (!strcmp(d->name, name)) {
				ev_event_of(tables->all[i], d, out);
				return true;
			}
	return false;
}

/* ---- the files of an event */

static void description(const struct ev_event *e, struct strbuf *out)
{
	strbuf_puts(out, e->doc);
}

static void unit_masks(const struct ev_event *e, struct strbuf *out)
{
	ev_describe_masks(e->def, out);
	if (!out->len)
		strbuf_puts(out, "none");
	else
		strbuf_truncate(out, out->len - 1);
}

static void counters(const struct ev_event *e, struct strbuf *out)
{
	ev_describe_counters(e->table, e->def, out);
	if (!ev_can_sample(ev_machine(), e))
		strbuf_puts(out, "\ncannot be sampled on this machine: see ../README");
}

static void minimum(const struct ev_event *e, struct strbuf *out)
{
	strbuf_printf(out, "%" PRIu64, e->def->minimum);
}

static const struct event_file {
	const char *name;
	void (*write)(const struct ev_event *e, struct strbuf *out);
} files[] = {
	{ "description", description },
	{ "unit-masks", unit_masks },
	{ "counters", counters },
	{ "minimum", minimum },
};

enum { NR_FILES = sizeof(files) / sizeof(files[0]) };

static void readme_text(struct strbuf *out)
{
	const char *why;

	ev_machine_tables(&why);
	ev_machine_say(ev_machine(), out);
	strbuf_puts(
		out,
		"\n\nA directory for each event that can be asked for by name:\n"
		"  description  what it counts\n"
		"  unit-masks   which of it: opcollect record -e NAME:COUNT:UNITMASK\n"
		"  counters     of the processor that can count it\n"
		"  minimum      fewest events from sample to sample\n"
		"grep -ri miss . finds what has to do with misses. Events of other "
		"processors:\nopcollect events --cpu-type TYPE.");
	if (*why)
		strbuf_printf(out, "\n\n%s", why);
}

int tree_events_text(const struct ask *a, const struct place *p, struct text **out)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	struct ev_event e;

	if (!*p->event)
		readme_text(&text);
	else if (!find_event(p->event, &e))
		return err_set(a->err, -ENOENT, "there is no event %.60s", p->event);
	for (size_t i = 0; i < NR_FILES && *p->event; i++)
		if (!strcmp(files[i].name, p->file))
			files[i].write(&e, &text);
	strbuf_putc(&text, '\n');
	return text_new(&text, out, a->err);
}

/* ---- components */

static int enter(const struct ask *a, enum place_kind kind, const char *event,
		 const char *file, struct place *to)
{
	bool failed = false;

	*to = (struct place){ .kind = kind,
			      .file = file,
			      .event = place_text(event, &failed) };
	return failed ? ask_no_memory(a) : 0;
}

int tree_enter_events(const struct ask *a, struct place *to)
{
	return enter(a, PLACE_EVENTS, "", NULL, to);
}

int tree_step_events(const struct ask *a, const struct place *from, const char *name,
		     struct place *to)
{
	CLEANUP(strbuf_fini) struct strbuf hint = { 0 };
	struct ev_event e;

	for (size_t i = 0; i < NR_FILES && *from->event; i++)
		if (!strcmp(files[i].name, name))
			return enter(a, PLACE_EVENT_FILE, from->event, files[i].name, to);
	if (*from->event)
		return err_set(a->err, -ENOENT,
			       "event %.60s has description, unit-masks, counters and "
			       "minimum, and no \"%.60s\"",
			       from->event, name);
	if (!strcmp(name, readme))
		return enter(a, PLACE_EVENT_FILE, "", readme, to);
	if (find_event(name, &e))
		return enter(a, PLACE_EVENTS, e.name, NULL, to);
	ev_event_suggest(ev_machine_tables(NULL), name, &hint);
	return err_set(a->err, -ENOENT, "there is no event \"%.60s\" on this machine%s%s",
		       name, hint.len ? "; " : "", strbuf_str(&hint));
}

int tree_list_events(const struct ask *a, const struct place *p, struct lister *l)
{
	const struct ev_tables *tables = ev_machine_tables(NULL);
	int rc = *p->event ? 0 : lister_add(l, readme, PLACE_EVENT_FILE);

	(void)a;
	for (size_t i = 0; i < NR_FILES && *p->event && !rc; i++)
		rc = lister_add(l, files[i].name, PLACE_EVENT_FILE);
	for (unsigned i = 0; i < tables->nr && !*p->event; i++)
		vec_for(&tables->all[i]->defs, d) {
			struct ev_event first;

			if (!rc && find_event(d->name, &first) && first.def == d)
				rc = lister_add(l, d->name, PLACE_EVENTS);
		}
	return rc;
}
