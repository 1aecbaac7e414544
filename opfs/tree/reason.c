/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/tree/reason.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/names.h"
#include "base/suggest.h"
#include "base/vec.h"
#include "libspec/spec/field.h"
#include "opfs/tree/browse.h"
#include "opfs/tree/files.h"
#include "opfs/tree/sessions.h"
#include "opfs/tree/value.h"
#include "opfs/tree/values.h"

/* What to say where a path leads nowhere. */

enum { MAX_OFFERED = 10000 /* of more values none is said to be meant */ };

static bool is_named(const struct spec_tag *tag)
{
	return *tag->name && tag->id != SPEC_SESSION && tag->id != SPEC_SESSION_EXCLUDE &&
	       tag->kind != SPEC_TAG_SPAN;
}

/* "sort:sample": the word looks like a tag that does not exist.  @first: it is the first
 * one of a path. */
static bool looks_like_tag(const char *raw, bool first, struct strbuf *out)
{
	size_t len = strspn(raw, "abcdefghijklmnopqrstuvwxyz-");
	CLEANUP(free_ptr) char *typed = strndup(raw, len);
	struct nearest near = { .typed = typed };

	if (!typed || !len || raw[len] != ':')
		return false;
	for (size_t i = 0; i < SPEC_NR_TAGS; i++)
		if (first ? *spec_tags[i].name != '\0' : is_named(&spec_tags[i]))
			nearest_offer(&near, spec_tags[i].name);
	strbuf_printf(out, "there is no tag \"%s\" in this version", typed);
	nearest_tell(&near, "", out);
	strbuf_puts(out, " (there are:");
	for (size_t i = 0; i < SPEC_NR_TAGS; i++)
		if (is_named(&spec_tags[i]))
			strbuf_printf(out, " %s", spec_tags[i].name);
	strbuf_printf(out, "), and no %s is called %.60s", first ? "session" : "image",
		      raw);
	return true;
}

/* What a component may be that is no value: the names of files and, if @tags, of tags. */
static void offer_names(const struct ask *a, bool tags, struct nearest *near)
{
	const struct report_set *set = a->t->o.reports;

	for (size_t i = 0; i < set->nr; i++)
		nearest_offer(near, set->all[i]->name);
	for (size_t i = 0; tags && i < SPEC_NR_TAGS; i++)
		if (is_named(&spec_tags[i]))
			nearest_offer(near, spec_tags[i].name);
}

int tree_no_word(const struct ask *a, const char *typed)
{
	CLEANUP(names_fini) struct names sessions = { 0 };
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	struct nearest near = { .typed = typed };

	if (looks_like_tag(typed, true, &text))
		return err_set(a->err, -ENOENT, "%s", strbuf_str(&text));
	tree_listed_sessions(a, &sessions);
	vec_for(&sessions, name)
		nearest_offer(&near, *name);
	for (size_t i = 0; i < TREE_ROOT_ENTRIES; i++)
		nearest_offer(&near, tree_root_entries[i].name);
	offer_names(a, true, &near);
	if (!near.name)
		return tree_no_session(a, typed);
	nearest_tell(&near, "", &text);
	strbuf_puts(&text, " The sessions are: ");
	names_suggest(&sessions, typed, &text);
	return err_set(a->err, -ENOENT, "no session \"%.100s\" in %.100s%s", typed,
		       catalog_store_path(a->t->store), strbuf_str(&text));
}

int tree_no_more(const struct ask *a, const char *name)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	struct nearest near = { .typed = name };

	offer_names(a, false, &near);
	nearest_tell(&near, "", &text);
	return err_set(a->err, -ENOENT,
		       "more: holds the slow files only; there is no \"%.100s\"%s", name,
		       strbuf_str(&text));
}

static const char *what(const struct spec_tag *tag)
{
	switch (tag->id) {
	case SPEC_IMAGE:
		return "application";
	case SPEC_LIB_IMAGE:
		return "library, kernel image or memory";
	case SPEC_DEFAULT:
		return "file, tag or image";
	case SPEC_IMAGE_EXCLUDE:
	case SPEC_LIB_IMAGE_EXCLUDE:
		return "image";
	case SPEC_CALLS:
	case SPEC_CALLERS:
	case SPEC_THROUGH:
		return "stack with functions";
	default:
		return tag->name;
	}
}

/* Does the value name something in the session that this tag is not about? */
static bool exists_elsewhere(const struct ask *a, const struct place *from,
			     const struct spec_tag *tag, const char *raw)
{
	CLEANUP(spec_value_putp) struct spec_value *v = NULL;
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	bool found = false;
	uint64_t index;

	spec_decode(raw, &text);
	if (text.len && map_get(&from->cat->by_image, text.data, text.len, &index))
		return true;
	return !spec_value_new(tag, raw, false, &v, NULL) &&
	       !tree_names_image(a, from->cat, v, false, &found) && found;
}

/* The name in an image's path as it is listed, escaped. */
static const char *listed_base(const char *listed)
{
	const char *base = listed;

	for (const char *at = listed; (at = strstr(at, "%2F")); base = at)
		at += strlen("%2F");
	return base;
}

/* If only a part of names was typed, as a function without its namespace and parameters,
 * suggests the wildcard that finds them. */
static void suggest_glob(const struct spec_tag *tag, const char *raw,
			 const struct names *values, struct strbuf *out)
{
	bool found = false;

	if ((tag->kind != SPEC_TAG_IMAGES && tag->kind != SPEC_TAG_SYMBOL) || !*raw ||
	    strpbrk(raw, "*?[/,\\%"))
		return;
	for (size_t i = 0; i < values->len && !found; i++)
		found = strstr(tag->kind == SPEC_TAG_IMAGES ? listed_base(values->data[i])
							    : values->data[i],
			       raw);
	if (found)
		strbuf_printf(out, " (names that hold it: %s%s*%.60s*)", tag->name,
			      *tag->name ? ":" : "", raw);
}

/* A function of call trees that has no symbol is a part of a row, unless its image has no
 * entries.  *out: a tag that takes it, if there is one.  0, -EINTR or -EAGAIN. */
static int find_in_trees(const struct ask *a, const struct place *from, const char *raw,
			 const struct spec_tag **out)
{
	static const enum spec_tag_id tags[] = { SPEC_CALLERS, SPEC_THROUGH };

	for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
		struct place at;
		int rc = tree_browse_value(a, from, &spec_tags[tags[i]], raw, &at);

		if (rc == -EAGAIN || rc == -EINTR)
			return rc;
		if (rc)
			continue;
		place_fini(&at);
		*out = &spec_tags[tags[i]];
		return 0;
	}
	return 0;
}

/* Is it the first component of an image's path?  Such a path is a name in reports. */
static bool begins_path(const struct place *from, const char *raw)
{
	size_t len = strlen(raw);

	for (size_t i = 0; len && i < from->cat->nr_images; i++) {
		const char *path = from->cat->images[i].shown;

		if (path[0] == '/' && !strncmp(path + 1, raw, len) &&
		    path[1 + len] == '/')
			return true;
	}
	return false;
}

/* What files show beside a name, or in it, and a value has not. */
static void suggest_plain(const struct place *from, const char *raw, struct strbuf *out)
{
	size_t len = strlen(raw);

	if (len > 4 && !strcmp(raw + len - 4, "_[k]"))
		strbuf_printf(out, " (\"_[k]\" is no part of names: %.*s)", (int)len - 4,
			      raw);
	else if (strstr(raw, " ["))
		strbuf_printf(out, " (\" [...]\" behind a name is no part of it: %.*s)",
			      (int)(strstr(raw, " [") - raw), raw);
	else if (begins_path(from, raw))
		strbuf_puts(out, " (in names each \"/\" is written %2F)");
}

/* @in_trees: NULL, or a tag whose value it would be */
static void explain(const struct ask *a, const struct place *from,
		    const struct spec_tag *tag, const char *raw,
		    const struct names *values, const struct spec_tag *in_trees,
		    struct strbuf *out)
{
	const struct spec_field *field = spec_field_of(tag->id);
	const char *by = field ? field->separated : NULL; /* what --separate needs */
	struct nearest near = { .typed = raw };

	if (tag->id == SPEC_DEFAULT && raw && looks_like_tag(raw, false, out))
		return;
	if (!from->sel->nr) {
		strbuf_puts(out, "there are no samples here yet");
		return;
	}
	if (by && !values->len) {
		strbuf_printf(out,
			      "these samples are not separated by %s (record with "
			      "opcollect record --separate=%s)",
			      by, by);
		return;
	}
	if (tag->kind == SPEC_TAG_FRAMES && !values->len) {
		strbuf_puts(out, TREE_NO_STACKS);
		return;
	}
	if (!raw) {
		strbuf_printf(out, "%s: has no value here", tag->name);
		return;
	}
	strbuf_printf(out, "no %s \"%.80s\" here", what(tag), raw);
	if (tag->kind == SPEC_TAG_IMAGES && exists_elsewhere(a, from, tag, raw))
		strbuf_puts(
			out,
			tag->id == SPEC_IMAGE
				? " (it is a library, kernel image or memory: lib-image:)"
				: " (the session has it, this selection has not)");
	if (tag->kind == SPEC_TAG_IMAGES && strpbrk(raw, "*?["))
		strbuf_puts(out,
			    " (a wildcard without \"/\" means names, one with it paths)");
	if (tag->id == SPEC_CALLS)
		strbuf_puts(out, " (calls: begins with the outermost function, through: "
				 "with any)");
	suggest_glob(tag, raw, values, out);
	if (in_trees)
		strbuf_printf(out, " (call trees have it: %s:%.80s)", in_trees->name,
			      raw);
	if (tag->kind == SPEC_TAG_SYMBOL || tag->kind == SPEC_TAG_FRAMES)
		suggest_plain(from, raw, out);
	if (tag->id == SPEC_DEFAULT)
		offer_names(a, true, &near);
	for (size_t i = 0; i < values->len && values->len <= MAX_OFFERED; i++)
		if (!strstr(values->data[i], raw)) /* else see suggest_glob() */
			nearest_offer(&near, values->data[i]);
	nearest_tell_all(&near, out);
	strbuf_puts(out, ": ");
	names_suggest(values, raw, out);
}

int tree_no_file(const struct ask *a, const struct place *from, const char *name)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	CLEANUP(strbuf_fini) struct strbuf value = { 0 };
	const struct report_set *set = a->t->o.reports;
	struct nearest near = { .typed = name };
	const char *tag = from->tag->name;

	spec_decode(from->value, &value);
	strbuf_printf(&text, "%s%s%.60s exists, but ", tag, *tag ? ":" : "",
		      strbuf_str(&value));
	if (looks_like_tag(name, false, &text))
		return err_set(a->err, -ENOENT, "%s", strbuf_str(&text));
	if (tree_report(a, name))
		return tree_is_here(a, from, tree_report(a, name));
	strbuf_printf(&text, "has no file or tag \"%.40s\"", name);
	offer_names(a, true, &near);
	nearest_tell(&near, "", &text);
	strbuf_puts(&text, " (its files:");
	for (size_t i = 0; i < set->nr; i++)
		strbuf_printf(&text, " %s", set->all[i]->name);
	strbuf_puts(&text, ")");
	return err_set(a->err, -ENOENT, "%s", strbuf_str(&text));
}

int tree_no_callee(const struct ask *a, const struct place *from, const char *name)
{
	CLEANUP(names_fini) struct names values = { 0 };
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	int rc = tree_browse_below(a, from, &values);

	if (rc)
		return rc;
	strbuf_printf(&text, "no function \"%.80s\" here", name);
	if (from->tag->id == SPEC_THROUGH)
		strbuf_puts(&text, " (a stack is followed from the outermost call of the "
				   "first function of through: on)");
	suggest_plain(from, name, &text);
	strbuf_puts(&text, "; there are: ");
	names_suggest(&values, name, &text);
	return err_set(a->err, -ENOENT, "%s", strbuf_str(&text));
}

int tree_no_value(const struct ask *a, const struct place *from,
		  const struct spec_tag *tag, const char *raw)
{
	CLEANUP(names_fini) struct names values = { 0 };
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	struct err ignored = { 0 };
	struct ask quietly = ask_quietly(a, &ignored);
	bool exclusion =
		tag->id == SPEC_IMAGE_EXCLUDE || tag->id == SPEC_LIB_IMAGE_EXCLUDE;
	/* listing what can be excluded would ask this same question again */
	const struct spec_tag *list = exclusion ? &spec_tags[SPEC_LIB_IMAGE] : tag;
	const struct spec_tag *in_trees = NULL;
	int rc;

	rc = tree_value_names(&quietly, from, list, &values);
	if (tag->kind == SPEC_TAG_SYMBOL && raw && !rc)
		rc = find_in_trees(&quietly, from, raw, &in_trees);
	if (rc == -EINTR)
		return err_set(a->err, rc, "interrupted");
	if (rc == -EAGAIN)
		return rc;
	explain(&quietly, from, tag, raw, &values, in_trees, &text);
	if (exclusion && raw && exists_elsewhere(&quietly, from, tag, raw))
		return err_set(a->err, -ENOENT, "%s:%.100s leaves nothing", tag->name,
			       raw);
	return err_set(a->err, -ENOENT, "%s", strbuf_str(&text));
}
