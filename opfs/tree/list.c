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

/* Images of a directory that has an entry "image:NAME" for each: not for more. */
enum { MAX_IMAGE_LINKS = 50 };

/* Tags that get a link; those of fields follow. */
static const enum spec_tag_id link_tags[] = { SPEC_IMAGE, SPEC_LIB_IMAGE, SPEC_SYMBOL,
					      SPEC_CALLS, SPEC_CALLERS,   SPEC_THROUGH };
enum { NR_OWN_LINKS = sizeof(link_tags) / sizeof(link_tags[0]) };

static size_t nr_links(void)
{
	return NR_OWN_LINKS + spec_nr_fields;
}

static const struct spec_tag *link_tag(size_t i)
{
	return &spec_tags[i < NR_OWN_LINKS ? link_tags[i]
					   : spec_fields[i - NR_OWN_LINKS].tag];
}

/* Counts and unit masks mostly follow from the event: they tell samples apart only where
 * those of one event differ. */
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

static bool differ(const struct place *p, const struct spec_field *field)
{
	struct event_seen seen = { 0 };

	for (size_t i = 0; i < p->sel->nr; i++) {
		const struct spec_name *n = &p->cat->files[p->sel->files[i]].name;

		if (spec_field_number(field, n) !=
		    spec_field_number(field, first_of_event(&seen, n)))
			return true;
	}
	return false;
}

/* Does a directory list the tag at all? */
static bool refines(const struct place *p, const struct spec_tag *tag)
{
	return p->listed && !p->base && !p->spec->values[tag->id];
}

const struct spec_tag *tree_nest(const struct place *p)
{
	if (!refines(p, &spec_tags[SPEC_IMAGE]) || !p->sel || !p->sel->nr)
		return NULL;
	return &spec_tags[p->spec->values[SPEC_EVENT] ? SPEC_IMAGE : SPEC_EVENT];
}

/* Has the directory a link of this tag? */
static bool is_linked(const struct ask *a, const struct place *p,
		      const struct spec_tag *tag)
{
	const struct spec_field *field = spec_field_of(tag->id);

	if (!refines(p, tag) || tree_nest(p) == tag)
		return false;
	if (tag->id == SPEC_SYMBOL)
		return p->sel->samples > 0;
	if (field && tag->kind == SPEC_TAG_NUMBERS && !field->separated)
		return differ(p, field);
	return tree_has_values(a, p, tag);
}

/* The tags of which each value has a link TAG:NAME. */
static const enum spec_tag_id value_links[] = { SPEC_EVENT, SPEC_IMAGE };
enum { NR_VALUE_LINKS = sizeof(value_links) / sizeof(value_links[0]) };

/* Its values as they are listed, if they have links in a directory. */
static int linked_values(const struct ask *a, const struct place *p,
			 const struct spec_tag *tag, struct names *out)
{
	if (!refines(p, tag) ||
	    (tag->id == SPEC_IMAGE && tree_nr_apps(p) > MAX_IMAGE_LINKS))
		return 0;
	return tree_value_names(a, p, tag, out);
}

/* ---- the directory of a profile, entry by entry */

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

/* Is it one of the functions that a link leads to?  There are so many that programs which
 * follow links would not come to an end among all files of each. */
static bool is_function(const struct place *p)
{
	return !p->listed && p->spec->values[SPEC_SYMBOL];
}

/* Among the files of a place, or of its `more`. */
static bool is_listed(const struct place *p, const struct report *r, bool more)
{
	if (tree_in_more(p, r) != more || (r->whole && place_narrows(p->spec)))
		return false;
	return more || !is_function(p) || r->basic || r->symbol;
}

static int emit_reports(const struct ask *a, const struct place *p, bool more,
			struct lister *l)
{
	const struct report_set *set = a->t->o.reports;
	int rc = 0;

	for (size_t i = 0; i < set->nr && !rc; i++)
		if (is_listed(p, set->all[i], more))
			rc = emit_report(a, p, set->all[i], l);
	return rc;
}

static int emit_value_links(const struct ask *a, const struct place *p,
			    const struct spec_tag *tag, struct lister *l)
{
	CLEANUP(names_fini) struct names values = { 0 };
	int rc = linked_values(a, p, tag, &values);

	for (size_t i = 0; i < values.len && !rc; i++) {
		CLEANUP(strbuf_fini) struct strbuf name = { 0 };

		strbuf_printf(&name, "%s:%s", tag->name, values.data[i]);
		if (strbuf_error(&name))
			return -ENOMEM;
		rc = lister_add(l, name.data, PLACE_LINK);
	}
	return rc;
}

int tree_list_profile(const struct ask *a, const struct place *p, struct lister *l)
{
	const struct spec_tag *nest = tree_nest(p);
	int rc = emit_reports(a, p, false, l);

	if (!rc && p->listed)
		rc = lister_add(l, "more", PLACE_LINK);
	if (!rc && nest)
		rc = lister_add(l, nest->name, PLACE_VALUES);
	for (size_t i = 0; i < nr_links() && !rc; i++)
		if (is_linked(a, p, link_tag(i)))
			rc = lister_add(l, link_tag(i)->name, PLACE_LINK);
	for (size_t i = 0; i < NR_VALUE_LINKS && !rc; i++)
		rc = emit_value_links(a, p, &spec_tags[value_links[i]], l);
	return rc;
}

int tree_list_more(const struct ask *a, const struct place *p, struct lister *l)
{
	return emit_reports(a, p, true, l);
}

/* Has the directory a link "TAG:VALUE"? */
static bool is_value_link(const struct ask *a, const struct place *p,
			  const struct spec_word *word)
{
	CLEANUP(names_fini) struct names values = { 0 };
	bool is = false;

	for (size_t i = 0; i < NR_VALUE_LINKS && !is; i++)
		is = value_links[i] == word->tag->id;
	return is && !linked_values(a, p, word->tag, &values) &&
	       names_has(&values, word->value);
}

char *tree_link(const struct ask *a, const struct place *p, const char *name)
{
	struct strbuf target = { 0 };
	struct spec_word word;

	if (!spec_word_parse(name, strlen(name), &word))
		return NULL;
	if (word.value && is_value_link(a, p, &word))
		strbuf_printf(&target, "%s:/%s", word.tag->name, word.value);
	for (size_t i = 0; i < nr_links() && !word.colon; i++)
		if (word.tag == link_tag(i) && is_linked(a, p, word.tag))
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
