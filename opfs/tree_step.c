/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "opfs/tree_impl.h"

/* The specification of @from, with nothing open. */
static int closed(const struct ask *a, const struct place *from, enum place_kind kind,
		  const struct spec_tag *tag, struct place *to)
{
	return tree_place_init(to, kind, from->cat, from->spec, from->sel, tag, NULL,
			       a->err);
}

static int step_file(const struct ask *a, const struct place *from,
		     const struct report *report, struct place *to)
{
	int rc = closed(a, from, PLACE_FILE, NULL, to);

	if (!rc)
		to->report = report;
	return rc;
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

static int64_t separated(const struct spec_name *n, enum spec_tag_id id)
{
	return id == SPEC_TGID ? n->tgid : id == SPEC_TID ? n->tid : n->cpu;
}

/* Has the tag any value here? */
static int has_values(const struct ask *a, const struct place *from,
		      const struct spec_tag *tag, bool *any)
{
	CLEANUP(names_fini) struct names values = { 0 };
	int rc;

	*any = false;
	switch (tag->id) {
	case SPEC_SESSION_EXCLUDE:
	case SPEC_IMAGE_EXCLUDE:
	case SPEC_LIB_IMAGE_EXCLUDE:
		rc = tree_value_names(a, from, tag, &values);
		*any = values.len > 0;
		return rc;
	case SPEC_TGID:
	case SPEC_TID:
	case SPEC_CPU:
		for (size_t i = 0; i < from->sel->nr && !*any; i++)
			*any = separated(&from->cat->files[from->sel->files[i]].name,
					 tag->id) >= 0;
		return 0;
	default: /* every file has an event, images ...; which symbols takes time */
		*any = from->sel->nr > 0;
		return 0;
	}
}

/* "TAG" or "TAG:": the directory of its values. */
static int step_values(const struct ask *a, const struct place *from,
		       const struct spec_tag *tag, struct place *to)
{
	bool any;
	int rc = has_values(a, from, tag, &any);

	if (rc)
		return rc;
	return any ? closed(a, from, PLACE_VALUES, tag, to)
		   : tree_no_value(a, from, tag, NULL);
}

static int step_tag(const struct ask *a, const struct place *from,
		    const struct spec_word *word, struct place *to)
{
	const struct spec_tag *tag = word->tag;

	if (tag->id == SPEC_SESSION)
		return err_set(a->err, -ENOENT, "session: comes first in a path");
	if (from->spec->values[tag->id])
		return err_set(a->err, -ENOENT,
			       "%s: was given before in this path (%.100s)", tag->name,
			       from->spec->values[tag->id]->raw);
	return word->value ? tree_value(a, from, tag, word->value, to)
			   : step_values(a, from, tag, to);
}

static int step_default(const struct ask *a, const struct place *from, const char *name,
			struct place *to)
{
	const struct spec_value *given = from->spec->values[SPEC_DEFAULT];

	if (given)
		return err_set(
			a->err, -ENOENT,
			"%.100s: no file, no tag, and the name of an "
			"image was given before in this path (%.100s); a list is one "
			"component: A,B",
			name, given->raw);
	return tree_value(a, from, &spec_tags[SPEC_DEFAULT], name, to);
}

/* "event" or "image" where it is listed as a directory. */
static bool is_nest(const struct place *from, const char *name)
{
	const struct spec_tag *nest;
	struct axes axes;

	if (!from->listed || (strcmp(name, "event") && strcmp(name, "image")))
		return false;
	tree_axes(from, &axes);
	nest = tree_nest(from, &axes);
	return nest && !strcmp(nest->name, name);
}

/* From a specification that is complete, whether or not a value could go on. */
static int step_closed(const struct ask *a, const struct place *from, const char *name,
		       struct place *to)
{
	size_t len = strlen(name);
	const struct report *report = report_find(name, len);
	struct spec_word word;
	char *target;
	int rc;

	if (report)
		return step_file(a, from, report, to);
	target = from->listed ? tree_link(from, name) : NULL;
	if (target)
		return step_link(a, from, target, to);
	if (!spec_word_parse(name, len, &word))
		return step_default(a, from, name, to);
	rc = step_tag(a, from, &word, to);
	if (!rc && is_nest(from, name))
		to->listed = true;
	return rc;
}

/* The values of a tag, and one of them. */
static int step_value(const struct ask *a, const struct place *from, const char *name,
		      struct place *to)
{
	int rc;

	if (from->tag->id == SPEC_SESSION)
		return tree_session_value(a, name, to);
	rc = tree_value(a, from, from->tag, name, to);
	if (!rc && to->kind == PLACE_PROFILE)
		to->listed = from->listed;
	return rc;
}

int tree_step_below(const struct ask *a, const struct place *from, const char *name,
		    struct place *to)
{
	struct spec_word word;

	if (from->kind == PLACE_VALUES)
		return step_value(a, from, name, to);
	if (from->kind == PLACE_PREFIX)
		return tree_value_join(a, from, name, to);
	if (from->tag && !report_find(name, strlen(name)) &&
	    !spec_word_parse(name, strlen(name), &word))
		return tree_value_join(a, from, name, to);
	return step_closed(a, from, name, to);
}
