/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/tree/list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "libspec/spec/field.h"
#include "opfs/tree/diff.h"
#include "opfs/tree/files.h"
#include "opfs/tree/value.h"
#include "opfs/tree/values.h"

/* Entries of a directory that is listed; those beyond are not listed and resolve. */
enum { MAX_ENTRIES = 24 };

/* Tags that get a link where they tell samples apart; those of fields follow. */
static const enum spec_tag_id link_tags[] = { SPEC_IMAGE, SPEC_LIB_IMAGE, SPEC_SYMBOL,
					      SPEC_CALLS, SPEC_CALLERS,   SPEC_THROUGH };
enum { NR_OWN_LINKS = sizeof(link_tags) / sizeof(link_tags[0]) };

static size_t nr_links(void)
{
	return NR_OWN_LINKS + spec_nr_fields;
}

static enum spec_tag_id link_tag(size_t i)
{
	return i < NR_OWN_LINKS ? link_tags[i] : spec_fields[i - NR_OWN_LINKS].tag;
}

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

static bool is_other(const struct ask *a, const struct catalog *cat,
		     const struct spec_field *field, const struct catalog_file *x,
		     const struct catalog_file *y, const struct spec_name *event)
{
	const struct spec_tag *tag = &spec_tags[field->tag];
	const char *of_x, *of_y;

	if (tag->kind == SPEC_TAG_NUMBERS)
		return spec_field_number(field, field->separated ? &x->name : event) !=
		       spec_field_number(field, &y->name);
	of_x = tree_task_text(a, cat, x, tag);
	of_y = tree_task_text(a, cat, y, tag);
	return of_x != of_y && (!of_x || !of_y || strcmp(of_x, of_y) != 0);
}

void tree_axes(const struct ask *a, const struct place *p, struct axes *out)
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
		const struct spec_name *event = first_of_event(&seen, &f->name);

		many[SPEC_IMAGE] |= f->app != first->app;
		many[SPEC_LIB_IMAGE] |= f->image != first->image;
		many[SPEC_EVENT] |= event != &first->name;
		for (size_t k = 0; k < spec_nr_fields; k++) {
			const struct spec_field *field = &spec_fields[k];

			many[field->tag] |= !many[field->tag] &&
					    is_other(a, p->cat, field, first, f, event);
		}
	}
	many[SPEC_SYMBOL] = p->sel->samples > 0;
	many[SPEC_CALLS] = many[SPEC_CALLERS] = many[SPEC_THROUGH] = place_has_stacks(p);
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

static bool is_linked(const struct place *p, const struct axes *axes,
		      const struct spec_tag *nest, enum spec_tag_id id)
{
	return axes->many[id] && !p->spec->values[id] && (!nest || nest->id != id);
}

/* What the tags leave of the files; -EINVAL: this one is not there. */
static int emit_report(const struct ask *a, const struct place *p, const struct report *r,
		       struct lister *l)
{
	struct err ignored = { 0 };
	struct ask quietly = ask_quietly(a, &ignored);
	int rc;

	rc = tree_may_make(&quietly, p, r);
	if (rc == -ENOMEM || rc == -EINTR || rc == -EAGAIN)
		return err_set(a->err, rc, "%s", ignored.msg);
	if (rc)
		return 0;
	return lister_add(l, r->name, r->entries ? PLACE_ENTRIES : PLACE_FILE);
}

static int emit_reports(const struct ask *a, const struct place *p, bool more,
			struct lister *l)
{
	const struct report_set *set = a->t->o.reports;
	int rc = 0;

	for (size_t i = 0; i < set->nr && !rc; i++)
		if (tree_in_more(p, set->all[i]) == more)
			rc = emit_report(a, p, set->all[i], l);
	return rc;
}

static int emit_event_links(const struct ask *a, const struct place *p, struct lister *l)
{
	CLEANUP(names_fini) struct names events = { 0 };
	int rc = tree_value_names(a, p, &spec_tags[SPEC_EVENT], &events);

	for (size_t i = 0; i < events.len && l->nr < MAX_ENTRIES && !rc; i++) {
		CLEANUP(strbuf_fini) struct strbuf name = { 0 };

		strbuf_printf(&name, "event:%s", events.data[i]);
		if (strbuf_error(&name))
			return -ENOMEM;
		rc = lister_add(l, name.data, PLACE_LINK);
	}
	return rc;
}

int tree_list_profile(const struct ask *a, const struct place *p, struct lister *l)
{
	const struct spec_tag *nest;
	struct axes axes;
	int rc = emit_reports(a, p, false, l);

	if (!rc)
		rc = lister_add(l, "more", PLACE_LINK);
	if (rc || !p->listed)
		return rc;
	tree_axes(a, p, &axes);
	nest = tree_nest(p, &axes);
	if (nest)
		rc = lister_add(l, nest->name, PLACE_VALUES);
	for (size_t i = 0; i < nr_links() && !rc; i++)
		if (is_linked(p, &axes, nest, link_tag(i)) && l->nr < MAX_ENTRIES)
			rc = lister_add(l, spec_tags[link_tag(i)].name, PLACE_LINK);
	if (!rc && nest && nest->id == SPEC_EVENT)
		rc = emit_event_links(a, p, l);
	return rc;
}

int tree_list_more(const struct ask *a, const struct place *p, struct lister *l)
{
	return emit_reports(a, p, true, l);
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

char *tree_link(const struct ask *a, const struct place *p, const char *name)
{
	struct strbuf target = { 0 };
	const struct spec_tag *nest;
	struct spec_word word;
	struct axes axes;

	if (!spec_word_parse(name, strlen(name), &word))
		return NULL;
	tree_axes(a, p, &axes);
	nest = tree_nest(p, &axes);
	if (word.value && word.tag->id == SPEC_EVENT && nest == word.tag &&
	    is_event_link(p, word.value))
		strbuf_printf(&target, "event/%s", word.value);
	for (size_t i = 0; i < nr_links() && !word.colon; i++)
		if (word.tag->id == link_tag(i) && is_linked(p, &axes, nest, link_tag(i)))
			strbuf_printf(&target, "%s:", name);
	return target.len ? strbuf_take(&target) : NULL;
}

/* ---- values */

static int value_names(const struct ask *a, const struct place *p,
		       const struct place *shown, struct names *out)
{
	return p->kind == PLACE_VALUES ? tree_value_names(a, shown, p->tag, out)
				       : tree_prefix_names(a, shown, out);
}

int tree_list_values(const struct ask *a, const struct place *p, struct lister *l)
{
	CLEANUP(names_fini) struct names names = { 0 };
	struct place side;
	int rc;

	if (!p->of_base) {
		rc = value_names(a, p, p, &names);
	} else {
		rc = tree_base_side(a, p, p->tag, &side);
		if (rc)
			return rc;
		rc = value_names(a, p, &side, &names);
		place_fini(&side);
	}
	for (size_t i = 0; i < names.len && !rc; i++)
		rc = lister_add(l, names.data[i], PLACE_PROFILE);
	return rc;
}
