/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "events/describe.h"
#include "opfs/tree_impl.h"

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

int tree_events_text(const struct place *p, struct text **out, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	struct ev_event e;

	if (!*p->entry)
		readme_text(&text);
	else if (!find_event(p->entry, &e))
		return err_set(err, -ENOENT, "there is no event %.60s", p->entry);
	for (size_t i = 0; i < NR_FILES && *p->entry; i++)
		if (!strcmp(files[i].name, p->root_name))
			files[i].write(&e, &text);
	strbuf_putc(&text, '\n');
	return text_new(&text, out, err);
}

/* ---- components */

static int enter(const struct ask *a, enum place_kind kind, const char *event,
		 const char *file, struct place *to)
{
	bool failed = false;

	*to = (struct place){ .kind = kind,
			      .root_name = file,
			      .entry = tree_copy(event, &failed) };
	return failed ? err_set(a->err, -ENOMEM, "out of memory") : 0;
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

	for (size_t i = 0; i < NR_FILES && *from->entry; i++)
		if (!strcmp(files[i].name, name))
			return enter(a, PLACE_FILE, from->entry, files[i].name, to);
	if (*from->entry)
		return err_set(a->err, -ENOENT,
			       "event %.60s has description, unit-masks, counters and "
			       "minimum, and no \"%.60s\"",
			       from->entry, name);
	if (!strcmp(name, readme))
		return enter(a, PLACE_FILE, "", readme, to);
	if (find_event(name, &e))
		return enter(a, PLACE_EVENTS, e.name, NULL, to);
	ev_event_suggest(ev_machine_tables(NULL), name, &hint);
	return err_set(a->err, -ENOENT, "there is no event \"%.60s\" on this machine%s%s",
		       name, hint.len ? "; " : "", strbuf_str(&hint));
}

int tree_list_events(const struct place *p,
		     int (*emit)(void *ctx, const struct tree_entry *e), void *ctx)
{
	const struct ev_tables *tables = ev_machine_tables(NULL);
	struct tree_entry entry = { readme, PLACE_FILE };
	int rc = *p->entry ? 0 : emit(ctx, &entry);

	for (size_t i = 0; i < NR_FILES && *p->entry && !rc; i++) {
		entry.name = files[i].name;
		rc = emit(ctx, &entry);
	}
	entry.kind = PLACE_EVENTS;
	for (unsigned i = 0; i < tables->nr && !*p->entry; i++)
		vec_for(&tables->all[i]->defs, d) {
			struct ev_event first;

			if (rc || !find_event(d->name, &first) || first.def != d)
				continue;
			entry.name = d->name;
			rc = emit(ctx, &entry);
		}
	return rc;
}
