/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/tree/value.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "libspec/spec/field.h"
#include "opfs/tree/profiles.h"

/* Values of tags that select, which may span components. */

enum { MAX_VALUE = 1 << 16 };

bool tree_is_exclusion(const struct spec_tag *tag)
{
	return tag->id == SPEC_IMAGE_EXCLUDE || tag->id == SPEC_LIB_IMAGE_EXCLUDE;
}

/* ---- what is there */

static bool listed_as(const char *name, const char *raw)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	spec_listed(name, false, name, &text);
	return !strcmp(strbuf_str(&text), raw);
}

/* The image that spec_listed() cut to @raw, or CATALOG_NO_IMAGE; *name is what of it. */
static uint32_t cut_image(const struct catalog *cat, const char *raw, const char **name)
{
	for (uint32_t i = 0; i < cat->nr_images; i++) {
		const struct catalog_image *img = &cat->images[i];
		const char *names[] = { img->listed, img->shown };

		for (size_t n = 0; n < 2; n++) {
			if (strlen(names[n]) < SPEC_LISTED_MAX / 3 ||
			    !listed_as(names[n], raw))
				continue;
			*name = names[n];
			return i;
		}
	}
	return CATALOG_NO_IMAGE;
}

const char *tree_task_text(const struct ask *a, const struct catalog *cat,
			   const struct catalog_file *f, const struct spec_tag *tag)
{
	return spec_field_text(spec_field_of(tag->id),
			       catalog_task(cat, f, tree_reader(a->t, a->v)));
}

static bool has_task(const struct ask *a, const struct catalog *cat,
		     const struct spec_tag *tag, const char *text)
{
	for (size_t i = 0; i < cat->nr_flat; i++) {
		const char *is = tree_task_text(a, cat, &cat->files[i], tag);

		if (is && !strcmp(is, text))
			return true;
	}
	return false;
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
		return ask_no_memory(a);
	*exact = has(&cat->by_image, text.data + 1);
	if (*exact)
		return 0;
	if (strchr(text.data + 1, '/') && text.data[1] != '/' &&
	    has(&cat->by_image, text.data))
		cut = text.data;
	else if (spec_listed_cut(*raw))
		cut_image(cat, *raw, &cut);
	if (!cut)
		return 0;
	better = escaped_all(cut);
	if (!better)
		return ask_no_memory(a);
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
		return ask_no_memory(a);
	if (tag->kind == SPEC_TAG_NAMES)
		*exact = has(&from->cat->by_event, strbuf_str(&text));
	else if (tag->kind == SPEC_TAG_TASKS)
		*exact = has_task(a, from->cat, tag, strbuf_str(&text));
	else if (tag->kind == SPEC_TAG_SYMBOL)
		return tree_has_symbol(a, from, strbuf_str(&text), exact);
	return 0;
}

/* ---- places */

int tree_names_image(const struct ask *a, struct catalog *cat, const struct spec_value *v,
		     bool prefix, bool *found)
{
	CLEANUP(free_ptr) bool *bits = calloc(cat->nr_images + 1, sizeof(bool));
	struct select_ctx ctx = { a, cat };
	struct spec_match match;
	int rc;

	if (!bits)
		return ask_no_memory(a);
	tree_match_init(&match, &ctx);
	rc = spec_match_images(&match, v, prefix, bits, a->err);
	*found = false;
	for (size_t i = 0; i < cat->nr_images && !rc; i++)
		*found |= bits[i];
	return rc;
}

/* Does a list go on: ends it in a comma, or in the beginning of a path? */
static int goes_on(const struct ask *a, struct catalog *cat, const struct spec_value *v,
		   bool *on)
{
	struct select_ctx ctx = { a, cat };
	struct spec_match match;
	bool complete;
	int rc;

	*on = v->items.open && !v->exact;
	if (*on || v->exact || v->all || v->items.nr < 2)
		return 0;
	tree_match_init(&match, &ctx);
	rc = spec_match_item(&match, v, v->items.nr - 1, &complete, a->err);
	return rc || complete ? rc : tree_names_image(a, cat, v, true, on);
}

/* A value that is complete.  *done: there is a place of it. */
static int whole_value(const struct ask *a, const struct place *from,
		       const struct spec_tag *tag, struct spec_value *v, struct place *to,
		       bool *done)
{
	CLEANUP(selection_putp) struct selection *sel = NULL;
	CLEANUP(spec_putp) struct spec *spec = NULL;
	bool open = tag->kind == SPEC_TAG_IMAGES || tag->kind == SPEC_TAG_FRAMES;
	bool meant = true;
	int rc = 0;

	*done = false;
	/* what would select alone is not to hide a name that is none */
	if ((tree_is_exclusion(tag) || tag->id == SPEC_DEFAULT) && !v->all)
		rc = tree_names_image(a, from->cat, v, false, &meant);
	if (rc || !meant)
		return rc;
	spec = spec_with(from->spec, tag, v);
	if (!spec)
		return ask_no_memory(a);
	rc = tree_select(a, from->cat, spec, NULL, from->sel, &sel);
	if (rc || !ask_selects(a, sel))
		return rc;
	*done = true;
	return place_init(to, PLACE_PROFILE, from->cat, spec, sel, open ? tag : NULL,
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
		rc = found ? 0 : tree_names_image(a, from->cat, v, true, &found);
	} else {
		spec = spec_with(from->spec, tag, v);
		if (!spec)
			return ask_no_memory(a);
		rc = tree_select(a, from->cat, spec, tag, from->sel, &sel);
		found = !rc && sel->nr;
		if (found && tag->id == SPEC_DEFAULT)
			rc = tree_names_image(a, from->cat, v, true, &found);
	}
	if (rc || !found)
		return rc;
	*done = true;
	return place_init(to, PLACE_PREFIX, from->cat, from->spec, sel, tag, v->raw,
			  a->err);
}

static int no_value(const struct ask *a, const struct place *from,
		    const struct spec_tag *tag, const char *raw)
{
	return a->explain ? a->explain(a, from, tag, raw) : -ENOENT;
}

/* A value with all its parts.  *raw may be replaced by other text for the same. */
static int make_value(const struct ask *a, const struct place *from,
		      const struct spec_tag *tag, char **raw, struct place *to)
{
	CLEANUP(spec_value_putp) struct spec_value *v = NULL;
	bool images = tag->kind == SPEC_TAG_IMAGES;
	bool exact, on = false, done = false;
	struct ask asked = *a;
	int rc = is_exact(a, from, tag, raw, &exact);

	rc = rc ? rc : spec_value_new(tag, *raw, exact, &v, a->err);
	if (rc)
		return rc;
	if (v->all && tag->id == SPEC_DEFAULT)
		return err_set(a->err, -ENOENT,
			       "all: a tag must say of what, as in image:all");
	if (v->all && !tree_is_exclusion(tag)) /* leaves the tag free */
		return place_init(to, PLACE_PROFILE, from->cat, from->spec, from->sel,
				  NULL, NULL, a->err);
	if (v->items.nr > 1) /* nobody tries lists everywhere */
		asked.probe = false;
	if (images)
		rc = goes_on(&asked, from->cat, v, &on);
	if (!rc && on)
		rc = begun_value(&asked, from, tag, v, to, &done);
	if (!rc && !done)
		rc = whole_value(&asked, from, tag, v, to, &done);
	if (!rc && !done && images && !on)
		rc = begun_value(&asked, from, tag, v, to, &done);
	return rc || done ? rc : no_value(a, from, tag, *raw);
}

/* What @from was before its value was opened; a prefix holds fewer samples. */
static int reopened(const struct ask *a, const struct place *from, struct place *base)
{
	CLEANUP(selection_putp) struct selection *sel = NULL;
	CLEANUP(spec_putp) struct spec *spec = NULL;
	int rc;

	spec = spec_with(from->spec, NULL, NULL);
	if (!spec)
		return ask_no_memory(a);
	spec_value_put(TAKE(spec->values[from->tag->id]));
	rc = tree_select(a, from->cat, spec, NULL, NULL, &sel);
	return rc ? rc
		  : place_init(base, PLACE_PROFILE, from->cat, spec, sel, NULL, NULL,
			       a->err);
}

int tree_select_value(const struct ask *a, const struct place *from,
		      const struct spec_tag *tag, const char *raw, struct place *to)
{
	CLEANUP(free_ptr) char *copy = strdup(raw);

	return copy ? make_value(a, from, tag, &copy, to) : ask_no_memory(a);
}

/* What follows is another item, not another part of a path: it ends in a comma. */
bool tree_ends_open(const char *raw)
{
	CLEANUP(spec_items_fini) struct spec_items items = { 0 };

	return !spec_items_parse(raw, &items, NULL) && items.open;
}

/* Is @raw, with which the open value of @from goes on, about an image where it goes on?
 * Other items of the list may mean some whatever follows. */
static int can_go_on(const struct ask *a, const struct place *from, char **raw,
		     bool *possible)
{
	CLEANUP(spec_items_fini) struct spec_items before = { 0 };
	CLEANUP(spec_value_putp) struct spec_value *v = NULL;
	struct select_ctx ctx = { a, from->cat };
	struct spec_match match;
	int rc = is_exact(a, from, from->tag, raw, possible);

	if (rc || *possible)
		return rc;
	rc = spec_items_parse(from->value, &before, a->err);
	rc = rc ? rc : spec_value_new(from->tag, *raw, false, &v, a->err);
	if (rc || before.open || !before.nr) {
		*possible = true;
		return rc;
	}
	tree_match_init(&match, &ctx);
	rc = spec_match_item(&match, v, before.nr - 1, possible, a->err);
	if (!rc && !*possible && v->items.nr == before.nr)
		rc = tree_names_image(a, from->cat, v, true, possible);
	return rc;
}

int tree_joined(const struct ask *a, const struct place *from, const char *name,
		char **out)
{
	struct strbuf raw = { 0 };

	strbuf_puts(&raw, from->value);
	if (!tree_ends_open(from->value))
		strbuf_putc(&raw, '/');
	strbuf_puts(&raw, name);
	if (raw.len > MAX_VALUE) {
		strbuf_fini(&raw);
		return err_set(a->err, -ENAMETOOLONG, "a value of more than %d bytes",
			       MAX_VALUE);
	}
	*out = strbuf_take(&raw);
	return *out ? 0 : ask_no_memory(a);
}

int tree_select_join(const struct ask *a, const struct place *from, const char *name,
		     struct place *to)
{
	bool possible = true;
	CLEANUP(free_ptr) char *text = NULL;
	struct place base;
	int rc = tree_joined(a, from, name, &text);

	/* what is no value yet needs this component, whatever it says */
	if (!rc && from->kind == PLACE_PROFILE && from->tag->kind == SPEC_TAG_IMAGES)
		rc = can_go_on(a, from, &text, &possible);
	if (rc || !possible)
		return rc ? rc : no_value(a, from, from->tag, text);
	rc = reopened(a, from, &base);
	if (rc)
		return rc;
	rc = make_value(a, &base, from->tag, &text, to);
	place_fini(&base);
	return rc;
}
