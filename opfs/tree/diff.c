/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/tree/diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/names.h"
#include "opfs/tree/access.h"
#include "opfs/tree/others.h"
#include "opfs/tree/profiles.h"
#include "opfs/tree/sessions.h"
#include "opfs/tree/value.h"

/*
 * diff:BASE.  The older side is a place of its own, in another session: what selects
 * comes over to it when diff: is met, and what selects behind diff: is for it alone.
 */

static struct ask may_be_empty(const struct ask *a, bool may)
{
	struct ask asked = *a;

	asked.empty = may;
	return asked;
}

/* Adds a value, which must be complete, to @side. */
static int narrow(const struct ask *a, const struct spec_tag *tag, const char *raw,
		  struct place *side)
{
	struct ask asked = may_be_empty(a, tag->kind == SPEC_TAG_FRAMES);
	struct place to;
	int rc = tree_select_value(&asked, side, tag, raw, &to);

	if (!rc && to.kind != PLACE_PROFILE) {
		place_fini(&to);
		rc = err_set(a->err, -ENOENT, "no %s \"%.100s\" here", tag->name, raw);
	}
	if (rc == -ENOENT || rc == -EINVAL)
		return err_add(a->err, rc, "in the older side of diff:, %.60s",
			       side->spec->sessions[0]);
	if (rc)
		return rc;
	place_fini(side);
	*side = to;
	return 0;
}

/* @side without a value of @tag. */
static int without(const struct ask *a, const struct place *side,
		   const struct spec_tag *tag, struct place *to)
{
	CLEANUP(spec_putp) struct spec *spec = spec_with(side->spec, NULL, NULL);
	CLEANUP(selection_putp) struct selection *sel = NULL;
	int rc;

	if (!spec)
		return ask_no_memory(a);
	spec_value_put(TAKE(spec->values[tag->id]));
	rc = tree_select(a, side->cat, spec, NULL, NULL, &sel);
	return rc ? rc
		  : place_init(to, PLACE_PROFILE, side->cat, spec, sel, NULL, NULL,
			       a->err);
}

/* ---- diff:BASE */

/* Presenting tags are the same on both sides; selecting ones are applied again. */
static int copy_tags(const struct ask *a, const struct spec *from, struct place *side)
{
	struct spec *spec = spec_with(side->spec, NULL, NULL);
	int rc = 0;

	if (!spec)
		return ask_no_memory(a);
	for (size_t i = 0; i < SPEC_NR_TAGS; i++)
		if (spec_tag_presents(&spec_tags[i]) && i != SPEC_DIFF)
			spec->values[i] = spec_value_get(from->values[i]);
	spec_put(side->spec);
	side->spec = spec;
	for (size_t i = 0; i < SPEC_NR_TAGS && !rc; i++)
		if (from->values[i] && place_tag_selects(&spec_tags[i]))
			rc = narrow(a, &spec_tags[i], from->values[i]->raw, side);
	return rc;
}

/* The sessions that a value means, their directory if it is not the tree's, and the value
 * spelled in one way. */
static int find_base(const struct ask *a, const char *raw, struct names *sessions,
		     char **dir, struct strbuf *value)
{
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	int rc;

	spec_decode(raw, &path);
	if (strbuf_str(&path)[0] != '/') {
		rc = tree_session_list(a, raw, sessions);
		for (size_t i = 0; i < sessions->len && !rc; i++) {
			if (i)
				strbuf_putc(value, ',');
			spec_escape(sessions->data[i], value);
		}
		return rc;
	}
	rc = tree_only_owner(a, "diff");
	if (!rc && strlen(path.data) != path.len)
		rc = err_set(a->err, -EINVAL, "diff: %%00 in a path");
	if (!rc && viewer_quick(a->v))
		return -EAGAIN;
	rc = rc ? rc : tree_find_session(a, path.data, dir, sessions);
	spec_escape(path.data, value);
	return rc;
}

static int enter_base(const struct ask *a, const struct place *from,
		      const struct names *sessions, const char *dir, struct place *side)
{
	CLEANUP(spec_putp) struct spec *spec = spec_new(sessions->data, sessions->len);
	int rc = spec ? tree_enter_in(a, dir, spec, side) : ask_no_memory(a);

	if (rc)
		return rc;
	if (!side->sel->nr)
		rc = err_set(a->err, -ENOENT,
			     "the older side of diff:, %.100s, holds no samples",
			     side->spec->sessions[0]);
	rc = rc ? rc : copy_tags(a, from->spec, side);
	if (rc)
		place_fini(side);
	return rc;
}

int tree_diff(const struct ask *a, const struct place *from, const char *raw,
	      struct place *to)
{
	CLEANUP(names_fini) struct names sessions = { 0 };
	CLEANUP(spec_value_putp) struct spec_value *value = NULL;
	CLEANUP(spec_putp) struct spec *spec = NULL;
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	CLEANUP(free_ptr) char *dir = NULL;
	struct place_base like = { 0 }, *base;
	struct place side;
	int rc = find_base(a, raw, &sessions, &dir, &text);

	rc = rc ? rc : strbuf_error(&text) ? ask_no_memory(a) : 0;
	rc = rc ? rc
		: spec_value_new(&spec_tags[SPEC_DIFF], text.data, true, &value, a->err);
	rc = rc ? rc : enter_base(a, from, &sessions, dir, &side);
	if (rc)
		return rc;
	like.dir = dir;
	rc = place_base_new(&like, &side, 0, &base, a->err);
	if (rc)
		return rc;
	spec = spec_with(from->spec, &spec_tags[SPEC_DIFF], value);
	rc = spec ? place_init(to, PLACE_PROFILE, from->cat, spec, from->sel, NULL, NULL,
			       a->err)
		  : ask_no_memory(a);
	if (rc)
		place_base_put(base);
	else
		to->base = base;
	return rc;
}

/* ---- tags behind it */

bool tree_is_base_tag(const struct place *from, const struct spec_tag *tag)
{
	return from->base && place_tag_selects(tag) &&
	       (tag->kind != SPEC_TAG_FRAMES || from->spec->values[tag->id]);
}

bool tree_may_give(const struct place *from, const struct spec_tag *tag)
{
	if (tree_is_base_tag(from, tag))
		return !(from->base->given & 1ull << tag->id);
	return !from->spec->values[tag->id] || tag->id == SPEC_WITH;
}

/* @from with another older side, which it takes over, and with its open value. */
static int with_side(const struct ask *a, const struct place *from, struct place *side,
		     const struct spec_tag *tag, struct place *to)
{
	uint64_t given = from->base->given;
	struct place_base *base;
	int rc;

	if (side->kind == PLACE_PROFILE)
		given |= 1ull << tag->id;
	rc = place_init(to, side->kind, from->cat, from->spec, from->sel, side->tag,
			side->value, a->err);
	if (rc) {
		place_fini(side);
		return rc;
	}
	rc = place_base_new(from->base, side, given, &base, a->err);
	if (rc) {
		place_fini(to);
		return rc;
	}
	to->base = base;
	to->of_base = to->tag != NULL;
	return 0;
}

int tree_base_value(const struct ask *a, const struct place *from,
		    const struct spec_tag *tag, const char *raw, struct place *to)
{
	struct ask asked = may_be_empty(a, from->base->p.sel->empty);
	struct place freed, side;
	int rc = without(a, &from->base->p, tag, &freed);

	if (rc)
		return rc;
	rc = tree_select_value(&asked, &freed, tag, raw, &side);
	place_fini(&freed);
	return rc ? rc : with_side(a, from, &side, tag, to);
}

int tree_base_join(const struct ask *a, const struct place *from, const char *name,
		   struct place *to)
{
	struct ask asked = may_be_empty(a, from->base->p.sel->empty);
	struct place side;
	int rc = tree_select_join(&asked, &from->base->p, name, &side);

	return rc ? rc : with_side(a, from, &side, from->tag, to);
}

/* ---- call trees of both sides */

int tree_both_follow(const struct ask *a, const struct place *from,
		     const struct spec_tag *tag, struct place *to)
{
	const struct spec_value *value = to->spec->values[tag->id];
	struct place side;
	int rc = without(a, &from->base->p, tag, &side);

	if (rc)
		return rc;
	rc = value ? narrow(a, tag, value->raw, &side) : 0;
	if (rc)
		place_fini(&side);
	return rc ? rc
		  : place_base_new(from->base, &side, from->base->given, &to->base,
				   a->err);
}

int tree_both_value(const struct ask *a, const struct place *from,
		    const struct spec_tag *tag, const char *raw, struct place *to)
{
	struct ask asked = may_be_empty(a, true);
	int rc = tree_select_value(&asked, from, tag, raw, to);

	if (rc)
		return rc;
	rc = tree_both_follow(a, from, tag, to);
	if (!rc && to->sel->empty && to->base->p.sel->empty)
		rc = a->explain ? a->explain(a, from, tag, raw) : -ENOENT;
	if (rc)
		place_fini(to);
	return rc;
}

int tree_both_join(const struct ask *a, const struct place *from, const char *name,
		   struct place *to)
{
	CLEANUP(free_ptr) char *raw = NULL;
	struct place freed;
	int rc = tree_joined(a, from, name, &raw);

	rc = rc ? rc : without(a, from, from->tag, &freed);
	if (rc)
		return rc;
	freed.base = place_base_get(from->base);
	rc = tree_both_value(a, &freed, from->tag, raw, to);
	place_fini(&freed);
	return rc;
}

int tree_base_side(const struct ask *a, const struct place *p, const struct spec_tag *tag,
		   struct place *out)
{
	if (p->kind == PLACE_PREFIX)
		return place_copy(&p->base->p, out) ? ask_no_memory(a) : 0;
	return without(a, &p->base->p, tag, out);
}
