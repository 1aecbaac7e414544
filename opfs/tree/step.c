/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/tree/step.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "libspec/spec/field.h"
#include "opfs/tree/browse.h"
#include "opfs/tree/browse_tree.h"
#include "opfs/tree/diff.h"
#include "opfs/tree/files.h"
#include "opfs/tree/list.h"
#include "opfs/tree/reason.h"
#include "opfs/tree/sessions.h"
#include "opfs/tree/tag.h"
#include "opfs/tree/value.h"
#include "opfs/tree/values.h"

/* The specification of @from, with nothing open. */
static int closed(const struct ask *a, const struct place *from, enum place_kind kind,
		  const struct spec_tag *tag, struct place *to)
{
	return place_init(to, kind, from->cat, from->spec, from->sel, tag, NULL, a->err);
}

static int step_file(const struct ask *a, const struct place *from,
		     const struct report *report, struct place *to)
{
	bool dir = report->entries != NULL;
	int rc = closed(a, from, dir ? PLACE_ENTRIES : PLACE_FILE, NULL, to);

	if (rc)
		return rc;
	to->report = report;
	to->entry = dir ? strdup("") : NULL;
	if (!dir || to->entry)
		return 0;
	place_fini(to);
	return ask_no_memory(a);
}

static int step_link(const struct ask *a, const struct place *from, char *target,
		     struct place *to)
{
	int rc = closed(a, from, PLACE_LINK, NULL, to);

	if (rc)
		free(target);
	else
		to->target = target;
	return rc;
}

/* "TAG" or "TAG:": the directory of its values. */
static int step_values(const struct ask *a, const struct place *from,
		       const struct spec_tag *tag, struct place *to)
{
	bool of_base = tree_is_base_tag(from, tag);
	struct place side;
	int rc;

	if (spec_tag_presents(tag))
		return closed(a, from, PLACE_VALUES, tag, to);
	rc = of_base ? tree_base_side(a, from, tag, &side) : 0;
	if (rc)
		return rc;
	if (!tree_has_values(a, of_base ? &side : from, tag))
		rc = tree_no_value(a, of_base ? &side : from, tag, NULL);
	if (of_base)
		place_fini(&side);
	rc = rc ? rc : closed(a, from, PLACE_VALUES, tag, to);
	if (!rc)
		to->of_base = of_base;
	return rc;
}

static int given_before(const struct ask *a, const struct place *from,
			const struct spec_tag *tag)
{
	const struct spec *spec =
		tree_is_base_tag(from, tag) ? from->base->p.spec : from->spec;
	const struct spec_value *v = spec->values[tag->id];

	return err_set(a->err, -ENOENT, "%s: was given before in this path (%.100s)",
		       tag->name, v ? v->raw : "all");
}

static int step_tag(const struct ask *a, const struct place *from,
		    const struct spec_word *word, struct place *to)
{
	const struct spec_tag *tag = word->tag;

	if (tag->id == SPEC_SESSION || tag->kind == SPEC_TAG_SPAN)
		return err_set(a->err, -ENOENT, "%s: comes first in a path", tag->name);
	if (!tree_may_give(from, tag))
		return given_before(a, from, tag);
	return word->value ? tree_value(a, from, tag, word->value, to)
			   : step_values(a, from, tag, to);
}

static int step_default(const struct ask *a, const struct place *from, const char *name,
			struct place *to)
{
	const struct spec_tag *tag = &spec_tags[SPEC_DEFAULT];
	const struct spec_value *given = from->spec->values[SPEC_DEFAULT];

	if (from->base && from->base->given & 1ull << SPEC_DEFAULT)
		given = from->base->p.spec->values[SPEC_DEFAULT];
	if (!tree_may_give(from, tag) && given)
		return err_set(
			a->err, -ENOENT,
			"%.100s: no file, no tag, and the name of an "
			"image was given before in this path (%.100s); a list is one "
			"component: A,B",
			name, given->raw);
	return tree_value(a, from, tag, name, to);
}

/* As step_default(), but says nothing if no image is called so. */
static int try_default(const struct ask *a, const struct place *from, const char *name,
		       struct place *to)
{
	struct err why = { 0 };
	struct ask quietly = *a;
	int rc;

	quietly.err = &why;
	rc = step_default(&quietly, from, name, to);
	if (rc && rc != -ENOENT && a->err)
		*a->err = why;
	return rc;
}

/* A file that is in other directories may be the name of an image here. */
static int step_elsewhere(const struct ask *a, const struct place *from, const char *name,
			  struct place *to)
{
	int rc = try_default(a, from, name, to);

	return rc == -ENOENT ? tree_is_here(a, from, tree_report(a, name)) : rc;
}

static bool is_file(const struct ask *a, const struct place *from,
		    const struct report *report)
{
	struct err ignored = { 0 };
	struct ask quietly = ask_quietly(a, &ignored);

	return report && !tree_is_here(&quietly, from, report);
}

/* Does @name end the open value of an image tag: a file, more:, a tag? */
static bool ends_value(const struct ask *a, const struct place *from, const char *name)
{
	size_t len = strlen(name);
	struct spec_word word;

	return is_file(a, from, tree_report(a, name)) || !strcmp(name, "more") ||
	       !strcmp(name, "more:") || spec_word_parse(name, len, &word);
}

/* From a complete specification, also if its value could be continued. */
static int step_closed(const struct ask *a, const struct place *from, const char *name,
		       struct place *to)
{
	size_t len = strlen(name);
	const struct report *report = tree_report(a, name);
	struct spec_word word;
	char *target;
	int rc;

	if (report)
		return is_file(a, from, report) ? step_file(a, from, report, to)
						: step_elsewhere(a, from, name, to);
	if (!strcmp(name, "more:"))
		return closed(a, from, PLACE_MORE, NULL, to);
	if (!strcmp(name, "more"))
		target = strdup("more:");
	else
		target = tree_link(a, from, name);
	if (target)
		return step_link(a, from, target, to);
	if (!spec_word_parse(name, len, &word))
		return step_default(a, from, name, to);
	rc = step_tag(a, from, &word, to);
	/* what TAG: holds is what links lead to */
	if (!rc)
		to->listed = word.value ? to->kind == PLACE_PROFILE
					: !word.colon && tree_nest(from) == word.tag;
	return rc;
}

int tree_step_values(const struct ask *a, const struct place *from, const char *name,
		     struct place *to)
{
	int rc;

	if (from->tag->id == SPEC_SESSION)
		return tree_session_value(a, name, to);
	if (from->tag->kind == SPEC_TAG_SPAN)
		return tree_span_value(a, from->tag, name, to);
	rc = tree_value(a, from, from->tag, name, to);
	if (!rc && to->kind == PLACE_PROFILE)
		to->listed = from->listed;
	return rc;
}

int tree_step_more(const struct ask *a, const struct place *from, const char *name,
		   struct place *to)
{
	const struct report *report = tree_report(a, name);

	if (report && report->more && is_file(a, from, report))
		return step_file(a, from, report, to);
	return tree_no_more(a, name);
}

/* Another part of the open value. */
int tree_step_prefix(const struct ask *a, const struct place *from, const char *name,
		     struct place *to)
{
	int rc = tree_value_join(a, from, name, to);

	if (!rc)
		to->listed = to->kind == PLACE_PROFILE;
	return rc;
}

/* The same, which already names something; else what it would be
 * behind any other tag. */
static int step_on(const struct ask *a, const struct place *from, const char *name,
		   struct place *to)
{
	int rc = tree_step_prefix(a, from, name, to);

	if (rc != -ENOENT || tree_ends_open(from->value))
		return rc;
	rc = try_default(a, from, name, to);
	return rc == -ENOENT && !from->of_base ? tree_no_file(a, from, name) : rc;
}

/* A function that is called there; a file or a tag; or what only the whole value means,
 * as with a pattern in it. */
int tree_step_browse(const struct ask *a, const struct place *from, const char *name,
		     struct place *to)
{
	CLEANUP(strbuf_fini) struct strbuf raw = { 0 };
	struct place base;
	int rc = tree_browse_child(a, from, name, to);

	if (rc != -ENOENT)
		return rc;
	rc = tree_browse_close(a, from, &base);
	if (rc)
		return rc;
	if (ends_value(a, &base, name)) {
		rc = from->base ? tree_both_follow(a, from, from->tag, &base) : 0;
		rc = rc ? rc : tree_step_profile(a, &base, name, to);
		if (!rc && !to->base)
			to->base = place_base_get(base.base);
		place_fini(&base);
		return rc;
	}
	place_fini(&base);
	rc = tree_browse_base(a, from, &base);
	if (rc)
		return rc;
	base.base = place_base_get(from->base);
	browse_tree_path(from->browse, from->at, &raw);
	strbuf_printf(&raw, "/%s", name);
	rc = strbuf_error(&raw) ? ask_no_memory(a)
				: tree_value(a, &base, from->tag, raw.data, to);
	place_fini(&base);
	if (rc == -ENOENT && a->explain && !strpbrk(name, "*?[,"))
		return tree_no_callee(a, from, name);
	return rc;
}

int tree_step_profile(const struct ask *a, const struct place *from, const char *name,
		      struct place *to)
{
	return from->tag && !ends_value(a, from, name) ? step_on(a, from, name, to)
						       : step_closed(a, from, name, to);
}
