/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "opfs/tree_impl.h"

/* Entries of a directory that is listed; those beyond are not listed and resolve. */
enum { MAX_ENTRIES = 15 };

/* Tags that get a link where they tell samples apart, in this order. */
static const enum spec_tag_id link_tags[] = { SPEC_IMAGE, SPEC_LIB_IMAGE, SPEC_SYMBOL,
					      SPEC_TGID,  SPEC_TID,       SPEC_CPU,
					      SPEC_COMM,  SPEC_CGROUP,
					      SPEC_COUNT, SPEC_UNIT_MASK };

/* Counts and unit masks differ from event to event anyway: they tell samples apart only
 * where those of one event differ. */
struct event_seen {
	const struct spec_name *first[16];
	size_t nr;
};

static const struct spec_name *first_of_event(struct event_seen *seen,
					      const struct spec_name *n)
{
	for (size_t i = 0; i < seen->nr; i++)
		if (!strcmp(seen->first[i]->event, n->event))
			return seen->first[i];
	if (seen->nr < sizeof(seen->first) / sizeof(seen->first[0]))
		seen->first[seen->nr++] = n;
	return n;
}

static bool is_other(const struct catalog_file *x, const struct catalog_file *y,
		     enum spec_tag_id id)
{
	const char *a = tree_task_text(x, &spec_tags[id]);
	const char *b = tree_task_text(y, &spec_tags[id]);

	return a != b && (!a || !b || strcmp(a, b) != 0);
}

void tree_axes(const struct place *p, struct axes *out)
{
	struct event_seen seen = { 0 };
	bool *many = out->many;
	const struct catalog_file *first;

	*out = (struct axes){ 0 };
	if (!p->sel || !p->sel->nr)
		return;
	first = &p->cat->files[p->sel->files[0]];
	first_of_event(&seen, &first->name);
	for (size_t i = 1; i < p->sel->nr; i++) {
		const struct catalog_file *f = &p->cat->files[p->sel->files[i]];
		const struct spec_name *x = &first->name, *y = &f->name, *e;

		many[SPEC_IMAGE] |= f->app != first->app;
		many[SPEC_LIB_IMAGE] |= f->image != first->image;
		many[SPEC_EVENT] |= !many[SPEC_EVENT] && strcmp(x->event, y->event) != 0;
		e = first_of_event(&seen, y);
		many[SPEC_COUNT] |= e->count != y->count;
		many[SPEC_UNIT_MASK] |= e->unit_mask != y->unit_mask;
		many[SPEC_TGID] |= x->tgid != y->tgid;
		many[SPEC_TID] |= x->tid != y->tid;
		many[SPEC_CPU] |= x->cpu != y->cpu;
		many[SPEC_COMM] |= !many[SPEC_COMM] && is_other(first, f, SPEC_COMM);
		many[SPEC_CGROUP] |= !many[SPEC_CGROUP] && is_other(first, f, SPEC_CGROUP);
	}
	many[SPEC_SYMBOL] = p->sel->samples > 0;
}

const struct spec_tag *tree_nest(const struct place *p, const struct axes *axes)
{
	if (axes->many[SPEC_EVENT] && !p->spec->values[SPEC_EVENT] &&
	    !p->spec->values[SPEC_IMAGE])
		return &spec_tags[SPEC_EVENT];
	if (axes->many[SPEC_IMAGE] && !p->spec->values[SPEC_IMAGE])
		return &spec_tags[SPEC_IMAGE];
	return NULL;
}

/* ---- one listed directory of a profile, entry by entry */

struct listing {
	const struct ask *a;
	int (*emit)(void *ctx, const struct tree_entry *e);
	void *ctx;
	unsigned nr;
};

static int emit(struct listing *l, const char *name, enum place_kind kind)
{
	struct tree_entry e = { name, kind };

	l->nr++;
	return l->emit(l->ctx, &e);
}

static bool is_linked(const struct place *p, const struct axes *axes,
		      const struct spec_tag *nest, enum spec_tag_id id)
{
	return axes->many[id] && !p->spec->values[id] && (!nest || nest->id != id);
}

/* What the tags leave of the files; -EINVAL: this one is not there. */
static int emit_report(struct listing *l, const struct place *p, const struct report *r)
{
	struct err ignored = { 0 };
	struct ask quietly = *l->a;
	int rc;

	quietly.err = &ignored;
	rc = tree_takes(&quietly, p, r);
	if (rc == -ENOMEM || rc == -EINTR)
		return err_set(l->a->err, rc, "%s", ignored.msg);
	if (rc)
		return 0;
	return emit(l, r->name, r->entries ? PLACE_ENTRIES : PLACE_FILE);
}

static int emit_reports(struct listing *l, const struct place *p, bool more)
{
	int rc = 0;

	for (size_t i = 0; i < nr_reports && !rc; i++)
		if (tree_in_more(p, reports[i]) == more)
			rc = emit_report(l, p, reports[i]);
	return rc;
}

static int emit_event_links(struct listing *l, const struct place *p)
{
	CLEANUP(names_fini) struct names events = { 0 };
	int rc = tree_value_names(l->a, p, &spec_tags[SPEC_EVENT], &events);

	for (size_t i = 0; i < events.len && l->nr < MAX_ENTRIES && !rc; i++) {
		CLEANUP(strbuf_fini) struct strbuf name = { 0 };

		strbuf_printf(&name, "event:%s", events.data[i]);
		if (strbuf_error(&name))
			return -ENOMEM;
		rc = emit(l, name.data, PLACE_LINK);
	}
	return rc;
}

static int list_profile(struct listing *l, const struct place *p)
{
	const struct spec_tag *nest;
	struct axes axes;
	int rc = emit_reports(l, p, false);

	if (!rc)
		rc = emit(l, "more", PLACE_LINK);
	if (rc || !p->listed)
		return rc;
	tree_axes(p, &axes);
	nest = tree_nest(p, &axes);
	if (nest)
		rc = emit(l, nest->name, PLACE_VALUES);
	for (size_t i = 0; i < sizeof(link_tags) / sizeof(link_tags[0]) && !rc; i++)
		if (is_linked(p, &axes, nest, link_tags[i]) && l->nr < MAX_ENTRIES)
			rc = emit(l, spec_tags[link_tags[i]].name, PLACE_LINK);
	if (!rc && nest && nest->id == SPEC_EVENT)
		rc = emit_event_links(l, p);
	return rc;
}

/* A name of emit_event_links(): the event behind "event:". */
static bool is_event_link(const struct place *p, const char *listed)
{
	CLEANUP(names_fini) struct names events = { 0 };
	struct err ignored = { 0 };
	struct ask a = { .err = &ignored };

	if (tree_value_names(&a, p, &spec_tags[SPEC_EVENT], &events))
		return false;
	for (size_t i = 0; i < events.len; i++)
		if (!strcmp(events.data[i], listed))
			return true;
	return false;
}

bool tree_lists_quickly(const struct ask *a, const struct place *p)
{
	switch (p->kind) {
	case PLACE_PROFILE:
		for (size_t i = 0; i < nr_reports; i++)
			if (reports[i]->check && !tree_in_more(p, reports[i]))
				return false;
		/* which columns there are */
		return !p->spec->values[SPEC_SPLIT] && !p->base;
	case PLACE_MORE:
		return false;
	case PLACE_ENTRIES:
		return tree_entries_known(a, p);
	case PLACE_VALUES: /* which sessions can be the older side */
		return p->tag->id != SPEC_DIFF;
	default:
		return true;
	}
}

char *tree_link(const struct place *p, const char *name)
{
	struct strbuf target = { 0 };
	const struct spec_tag *nest;
	struct spec_word word;
	struct axes axes;

	if (!spec_word_parse(name, strlen(name), &word))
		return NULL;
	tree_axes(p, &axes);
	nest = tree_nest(p, &axes);
	if (word.value && word.tag->id == SPEC_EVENT && nest == word.tag &&
	    is_event_link(p, word.value))
		strbuf_printf(&target, "event/%s", word.value);
	for (size_t i = 0; i < sizeof(link_tags) / sizeof(link_tags[0]) && !word.colon;
	     i++)
		if (word.tag->id == link_tags[i] &&
		    is_linked(p, &axes, nest, link_tags[i]))
			strbuf_printf(&target, "%s:", name);
	return target.len ? strbuf_take(&target) : NULL;
}

/* ---- directories */

static int list_values(const struct ask *a, const struct place *p, struct names *out)
{
	struct place side;
	int rc;

	if (!p->of_base)
		return p->kind == PLACE_VALUES ? tree_value_names(a, p, p->tag, out)
					       : tree_prefix_names(a, p, out);
	rc = tree_base_side(a, p, p->tag, &side);
	if (rc)
		return rc;
	rc = p->kind == PLACE_VALUES ? tree_value_names(a, &side, p->tag, out)
				     : tree_prefix_names(a, &side, out);
	place_fini(&side);
	return rc;
}

static int list_names(struct listing *l, const struct names *n)
{
	int rc = 0;

	for (size_t i = 0; i < n->len && !rc; i++)
		rc = emit(l, n->data[i], PLACE_PROFILE);
	return rc;
}

static int list_root(struct listing *l)
{
	CLEANUP(names_fini) struct names sessions = { 0 };
	int rc = tree_sessions(l->a->t, l->a->v, &sessions, l->a->err);

	rc = rc ? rc : emit(l, "README", PLACE_FILE);
	rc = rc ? rc : emit(l, "status", PLACE_FILE);
	rc = rc ? rc : emit(l, "events", PLACE_EVENTS);
	for (size_t i = 0; i < sessions.len && !rc; i++) {
		CLEANUP(strbuf_fini) struct strbuf name = { 0 };

		tree_listed_session(sessions.data[i], &name);
		rc = strbuf_error(&name) ? -ENOMEM : emit(l, name.data, PLACE_PROFILE);
	}
	return rc;
}

int tree_list(struct tree *t, const struct place *p, const struct viewer *v,
	      int (*emit_fn)(void *ctx, const struct tree_entry *e), void *ctx,
	      struct err *err)
{
	CLEANUP(names_fini) struct names names = { 0 };
	struct err why = { 0 };
	struct ask a = { .t = t, .v = v, .err = err ? err : &why };
	struct listing l = { .a = &a, .emit = emit_fn, .ctx = ctx };
	int rc;

	switch (p->kind) {
	case PLACE_ROOT:
		return list_root(&l);
	case PLACE_PROFILE:
		return list_profile(&l, p);
	case PLACE_MORE:
		return emit_reports(&l, p, true);
	case PLACE_ENTRIES:
		return tree_list_entries(&a, p, emit_fn, ctx);
	case PLACE_EVENTS:
		return tree_list_events(p, emit_fn, ctx);
	case PLACE_VALUES:
	case PLACE_PREFIX:
		rc = list_values(&a, p, &names);
		break;
	default:
		return err_set(a.err, -ENOTDIR, "not a directory");
	}
	return rc ? rc : list_names(&l, &names);
}
