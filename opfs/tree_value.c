/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "opfs/tree_impl.h"

static int no_memory(const struct ask *a)
{
	return err_set(a->err, -ENOMEM, "out of memory");
}

bool tree_is_exclusion(const struct spec_tag *tag)
{
	return tag->id == SPEC_IMAGE_EXCLUDE || tag->id == SPEC_LIB_IMAGE_EXCLUDE;
}

/* ---- is the whole of it a name? */

/* Raw text that spells exactly @name, whatever is in it. */
static char *escaped_all(const char *name)
{
	struct strbuf out = { 0 };

	spec_escape(name, &out);
	return strbuf_take(&out);
}

static bool has(const struct map *names, const char *name)
{
	uint64_t index;

	return map_get(names, name, strlen(name), &index);
}

/*
 * An image: by its name, by its path without the first "/", as a listing cut it short.
 * *raw may be replaced by other text for the same.
 */
static int exact_image(const struct ask *a, const struct catalog *cat, char **raw,
		       bool *exact)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	const char *cut = NULL;
	char *better;

	strbuf_putc(&text, '/');
	spec_decode(*raw, &text);
	if (strbuf_error(&text))
		return no_memory(a);
	*exact = has(&cat->by_image, text.data + 1);
	if (*exact)
		return 0;
	if (strchr(text.data + 1, '/') && text.data[1] != '/' &&
	    has(&cat->by_image, text.data))
		cut = text.data;
	else if (spec_listed_cut(*raw))
		tree_cut_image(cat, *raw, &cut);
	if (!cut)
		return 0;
	better = escaped_all(cut);
	if (!better)
		return no_memory(a);
	free(*raw);
	*raw = better;
	*exact = true;
	return 0;
}

static int is_exact(const struct ask *a, const struct place *from,
		    const struct spec_tag *tag, char **raw, bool *exact)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	*exact = false;
	if (tag->kind == SPEC_TAG_IMAGES)
		return exact_image(a, from->cat, raw, exact);
	spec_decode(*raw, &text);
	if (strbuf_error(&text))
		return no_memory(a);
	if (tag->kind == SPEC_TAG_NAMES)
		*exact = has(&from->cat->by_event, strbuf_str(&text));
	else if (tag->kind == SPEC_TAG_TASKS)
		*exact = tree_has_task(from->cat, tag, strbuf_str(&text));
	else if (tag->kind == SPEC_TAG_SYMBOL)
		return tree_has_symbol(a, from, strbuf_str(&text), exact);
	return 0;
}

/* ---- places */

/* True if the value means an image at all, selected or not. */
static int names_image(const struct ask *a, const struct catalog *cat,
		       const struct spec_value *v, bool prefix, bool *found)
{
	CLEANUP(free_ptr) bool *bits = calloc(cat->nr_images + 1, sizeof(bool));
	struct select_ctx ctx = { a, cat };
	struct spec_match match;
	int rc;

	if (!bits)
		return no_memory(a);
	tree_match_init(&match, &ctx);
	rc = spec_match_images(&match, v, prefix, bits, a->err);
	*found = false;
	for (size_t i = 0; i < cat->nr_images && !rc; i++)
		*found |= bits[i];
	return rc;
}

/* The last item of a list may be the beginning of a path; then so is the list. */
static int ends_complete(const struct ask *a, const struct catalog *cat,
			 const struct spec_value *v, bool *complete)
{
	struct select_ctx ctx = { a, cat };
	struct spec_match match;
	bool begun;
	int rc;

	*complete = true;
	if (v->exact || v->all || v->items.nr < 2)
		return 0;
	tree_match_init(&match, &ctx);
	rc = spec_match_last(&match, v, complete, a->err);
	if (rc || *complete)
		return rc;
	rc = names_image(a, cat, v, true, &begun);
	*complete = !begun;
	return rc;
}

/* A value that is complete.  *done: there is a place of it. */
static int whole_value(const struct ask *a, const struct place *from,
		       const struct spec_tag *tag, struct spec_value *v, struct place *to,
		       bool *done)
{
	CLEANUP(selection_putp) struct selection *sel = NULL;
	CLEANUP(spec_putp) struct spec *spec = NULL;
	bool open = tag->kind == SPEC_TAG_IMAGES;
	bool meant = true, complete = true;
	int rc = 0;

	*done = false;
	if (v->items.open && !v->exact && open) /* a list that goes on */
		return 0;
	if (open)
		rc = ends_complete(a, from->cat, v, &complete);
	/* what would select alone is not to hide a name that is none */
	if (!rc && (tree_is_exclusion(tag) || tag->id == SPEC_DEFAULT) && !v->all)
		rc = names_image(a, from->cat, v, false, &meant);
	if (rc || !meant || !complete)
		return rc;
	spec = spec_with(from->spec, tag, v);
	if (!spec)
		return no_memory(a);
	rc = tree_select(a, from->cat, spec, NULL, &sel);
	if (rc || !sel->nr)
		return rc;
	*done = true;
	return tree_place_init(to, PLACE_PROFILE, from->cat, spec, sel, open ? tag : NULL,
			       open ? v->raw : NULL, a->err);
}

/* A value that is the beginning of a path. */
static int begun_value(const struct ask *a, const struct place *from,
		       const struct spec_tag *tag, struct spec_value *v, struct place *to,
		       bool *done)
{
	CLEANUP(selection_putp) struct selection *sel = NULL;
	CLEANUP(spec_putp) struct spec *spec = NULL;
	bool found = false;
	int rc;

	*done = false;
	if (v->items.open || tree_is_exclusion(tag)) {
		sel = selection_get(from->sel);
		found = v->items.open;
		rc = found ? 0 : names_image(a, from->cat, v, true, &found);
	} else {
		spec = spec_with(from->spec, tag, v);
		if (!spec)
			return no_memory(a);
		rc = tree_select(a, from->cat, spec, tag, &sel);
		found = !rc && sel->nr;
		if (found && tag->id == SPEC_DEFAULT)
			rc = names_image(a, from->cat, v, true, &found);
	}
	if (rc || !found)
		return rc;
	*done = true;
	return tree_place_init(to, PLACE_PREFIX, from->cat, from->spec, sel, tag, v->raw,
			       a->err);
}

static int make_value(const struct ask *a, const struct place *from,
		      const struct spec_tag *tag, char **raw, struct place *to)
{
	CLEANUP(spec_value_putp) struct spec_value *v = NULL;
	bool exact, done;
	int rc = is_exact(a, from, tag, raw, &exact);

	rc = rc ? rc : spec_value_new(tag, *raw, exact, &v, a->err);
	if (rc)
		return rc;
	if (v->all && tag->id == SPEC_DEFAULT)
		return err_set(a->err, -ENOENT,
			       "all: a tag must say of what, as in image:all");
	if (v->all && !tree_is_exclusion(tag)) /* leaves the tag free */
		return tree_place_init(to, PLACE_PROFILE, from->cat, from->spec,
				       from->sel, NULL, NULL, a->err);
	rc = whole_value(a, from, tag, v, to, &done);
	if (!rc && !done && tag->kind == SPEC_TAG_IMAGES)
		rc = begun_value(a, from, tag, v, to, &done);
	return rc || done ? rc : tree_no_value(a, from, tag, *raw);
}

int tree_value(const struct ask *a, const struct place *from, const struct spec_tag *tag,
	       const char *raw, struct place *to)
{
	CLEANUP(free_ptr) char *copy = NULL;

	if (tag->id == SPEC_DIFF)
		return tree_diff(a, from, raw, to);
	if (spec_tag_presents(tag))
		return tree_present(a, from, tag, raw, to);
	if (tag->id == SPEC_SESSION_EXCLUDE)
		return tree_session_exclude(a, from, raw, to);
	if (tree_is_base_tag(from, tag))
		return tree_base_value(a, from, tag, raw, to);
	copy = strdup(raw);
	return copy ? make_value(a, from, tag, &copy, to) : no_memory(a);
}

/* What follows is another item, not another part of a path: it ends in a comma. */
static bool ends_open(const char *raw)
{
	CLEANUP(spec_items_fini) struct spec_items items = { 0 };

	return !spec_items_parse(raw, &items, NULL) && items.open;
}

/* What @from was before its value was opened. */
static int reopened(const struct ask *a, const struct place *from, struct place *base)
{
	CLEANUP(selection_putp) struct selection *sel = NULL;
	CLEANUP(spec_putp) struct spec *spec = NULL;
	int rc;

	if (from->kind == PLACE_PREFIX && !from->spec->values[from->tag->id])
		return tree_place_init(base, PLACE_PROFILE, from->cat, from->spec,
				       from->sel, NULL, NULL, a->err);
	spec = spec_with(from->spec, NULL, NULL);
	if (!spec)
		return no_memory(a);
	spec_value_put(TAKE(spec->values[from->tag->id]));
	rc = tree_select(a, from->cat, spec, NULL, &sel);
	return rc ? rc
		  : tree_place_init(base, PLACE_PROFILE, from->cat, spec, sel, NULL, NULL,
				    a->err);
}

int tree_value_join(const struct ask *a, const struct place *from, const char *name,
		    struct place *to)
{
	CLEANUP(strbuf_fini) struct strbuf raw = { 0 };
	CLEANUP(free_ptr) char *text = NULL;
	struct place base;
	int rc;

	if (from->of_base)
		return tree_base_join(a, from, name, to);
	strbuf_puts(&raw, from->value);
	if (!ends_open(from->value))
		strbuf_putc(&raw, '/');
	strbuf_puts(&raw, name);
	text = strbuf_take(&raw);
	if (!text)
		return no_memory(a);
	if (strlen(text) > 8192)
		return err_set(a->err, -ENAMETOOLONG, "a value of more than 8192 bytes");
	rc = reopened(a, from, &base);
	if (rc)
		return rc;
	rc = make_value(a, &base, from->tag, &text, to);
	place_fini(&base);
	if (rc == -ENOENT && from->kind == PLACE_PROFILE && !a->quick &&
	    !ends_open(from->value))
		return tree_no_file(a, from, name);
	return rc;
}
