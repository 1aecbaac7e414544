/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "opfs/tree_impl.h"

enum { MAX_COMPARED = 64, MAX_SHOWN = 6, MAX_LIST = 240 };

/* ---- what is near */

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;

	return m < c ? m : c;
}

/* Letters to change, of the first 64. */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[MAX_COMPARED + 1];
	size_t nb = strnlen(b, MAX_COMPARED);

	for (size_t j = 0; j <= nb; j++)
		row[j] = (unsigned)j;
	for (size_t i = 0; i < MAX_COMPARED && a[i]; i++) {
		unsigned diagonal = row[0];

		row[0] = (unsigned)i + 1;
		for (size_t j = 1; j <= nb; j++) {
			unsigned above = row[j];

			row[j] = min3(above + 1, row[j - 1] + 1,
				      diagonal + (a[i] != b[j - 1]));
			diagonal = above;
		}
	}
	return row[nb];
}

/* A name that holds what was typed is nearer than any that only looks like it. */
static unsigned farness(const char *name, const char *typed)
{
	unsigned far = distance(typed, name);

	return *typed && strcasestr(name, typed) ? far : MAX_COMPARED + far;
}

struct near {
	const char *name;
	unsigned far;
};

static int compare_near(const void *x, const void *y)
{
	const struct near *a = x, *b = y;

	return a->far != b->far ? (a->far > b->far) - (a->far < b->far)
				: strcmp(a->name, b->name);
}

void tree_suggest(const struct names *n, const char *typed, struct strbuf *out)
{
	CLEANUP(free_ptr) struct near *near = calloc(n->len + 1, sizeof(*near));
	size_t start = out->len, shown = 0;

	if (!n->len || !near) {
		strbuf_puts(out, "none");
		return;
	}
	for (size_t i = 0; i < n->len; i++)
		near[i] = (struct near){ n->data[i], n->len > MAX_SHOWN
							     ? farness(n->data[i], typed)
							     : 0 };
	if (n->len > MAX_SHOWN)
		qsort(near, n->len, sizeof(*near), compare_near);
	for (; shown < n->len && shown < MAX_SHOWN; shown++) {
		if (shown && out->len - start + strlen(near[shown].name) > MAX_LIST)
			break;
		strbuf_printf(out, "%s%.200s", shown ? ", " : "", near[shown].name);
	}
	if (shown < n->len)
		strbuf_printf(out, " (and %zu more)", n->len - shown);
}

/* ---- why */

/* "sort:sample": the word looks like a tag that does not exist. */
static bool looks_like_tag(const char *raw, struct strbuf *out)
{
	size_t len = strspn(raw, "abcdefghijklmnopqrstuvwxyz-");

	if (!len || raw[len] != ':')
		return false;
	strbuf_printf(out,
		      "there is no tag \"%.*s\" in this version (there are:", (int)len,
		      raw);
	for (size_t i = 0; i < SPEC_NR_TAGS; i++)
		if (*spec_tags[i].name && i != SPEC_SESSION && i != SPEC_SESSION_EXCLUDE &&
		    spec_tags[i].kind != SPEC_TAG_SPAN)
			strbuf_printf(out, " %s", spec_tags[i].name);
	strbuf_printf(out, "), and no image is called %.60s", raw);
	return true;
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
	default:
		return tag->name;
	}
}

/* Fields that a session has only if it was recorded with an option. */
static const char *separation(const struct spec_tag *tag)
{
	switch (tag->id) {
	case SPEC_TGID:
	case SPEC_TID:
	case SPEC_COMM:
	case SPEC_CGROUP:
		return "thread";
	case SPEC_CPU:
		return "cpu";
	default:
		return NULL;
	}
}

/* Does the value name something in the session that this tag is not about? */
static bool exists_elsewhere(const struct place *from, const char *raw)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	uint64_t index;

	spec_decode(raw, &text);
	return text.len && map_get(&from->cat->by_image, text.data, text.len, &index);
}

/* The name in an image's path as it is listed, escaped. */
static const char *listed_base(const char *listed)
{
	const char *base = listed;

	for (const char *at = listed; (at = strstr(at, "%2F")); base = at)
		at += strlen("%2F");
	return base;
}

/* A part of names that was typed as a whole one: the wildcard that would find them. */
static void suggest_glob(const struct spec_tag *tag, const char *raw,
			 const struct names *values, struct strbuf *out)
{
	bool found = false;

	if (tag->kind != SPEC_TAG_IMAGES || !*raw || strpbrk(raw, "*?[/,\\%"))
		return;
	for (size_t i = 0; i < values->len && !found; i++)
		found = strstr(listed_base(values->data[i]), raw);
	if (found)
		strbuf_printf(out, " (names that hold it: %s%s*%.60s*)", tag->name,
			      *tag->name ? ":" : "", raw);
}

static void explain(const struct place *from, const struct spec_tag *tag, const char *raw,
		    const struct names *values, struct strbuf *out)
{
	const char *by = separation(tag);

	if (tag->id == SPEC_DEFAULT && raw && looks_like_tag(raw, out))
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
	if (!raw) {
		strbuf_printf(out, "%s: has no value here", tag->name);
		return;
	}
	strbuf_printf(out, "no %s \"%.80s\" here", what(tag), raw);
	if (tag->kind == SPEC_TAG_IMAGES && exists_elsewhere(from, raw))
		strbuf_puts(out,
			    tag->id == SPEC_IMAGE
				    ? " (it is a library or kernel image: lib-image:)"
				    : " (the session has it, this selection has not)");
	if (tag->kind == SPEC_TAG_IMAGES && strpbrk(raw, "*?["))
		strbuf_puts(out,
			    " (a wildcard without \"/\" means names, one with it paths)");
	suggest_glob(tag, raw, values, out);
	strbuf_puts(out, "; there are: ");
	tree_suggest(values, raw, out);
}

/* The file whose name is nearest, if it is near enough to be meant. */
static const char *nearest_report(const char *name)
{
	unsigned best = MAX_COMPARED;
	const char *nearest = NULL;

	for (size_t i = 0; i < nr_reports; i++) {
		unsigned far = distance(name, reports[i]->name);

		if (far < best) {
			best = far;
			nearest = reports[i]->name;
		}
	}
	return best <= (strlen(name) + 1) / 2 ? nearest : NULL;
}

int tree_no_file(const struct ask *a, const struct place *from, const char *name)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	CLEANUP(strbuf_fini) struct strbuf value = { 0 };
	const char *near = nearest_report(name);
	const char *tag = from->tag->name;

	spec_decode(from->value, &value);
	strbuf_printf(&text, "%s%s%.60s exists, but ", tag, *tag ? ":" : "",
		      strbuf_str(&value));
	if (looks_like_tag(name, &text))
		return err_set(a->err, -ENOENT, "%s", strbuf_str(&text));
	if (report_find(name, strlen(name)))
		return tree_is_here(a, from, report_find(name, strlen(name)));
	strbuf_printf(&text, "has no file or tag \"%.40s\"", name);
	if (near)
		strbuf_printf(&text, ": did you mean \"%s\"?", near);
	strbuf_puts(&text, " (its files:");
	for (size_t i = 0; i < nr_reports; i++)
		strbuf_printf(&text, " %s", reports[i]->name);
	strbuf_puts(&text, ")");
	return err_set(a->err, -ENOENT, "%s", strbuf_str(&text));
}

int tree_no_value(const struct ask *a, const struct place *from,
		  const struct spec_tag *tag, const char *raw)
{
	CLEANUP(names_fini) struct names values = { 0 };
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	struct err ignored = { 0 };
	struct ask quietly = *a;
	bool exclusion =
		tag->id == SPEC_IMAGE_EXCLUDE || tag->id == SPEC_LIB_IMAGE_EXCLUDE;
	/* to list what can be excluded would ask this very question */
	const struct spec_tag *list = exclusion ? &spec_tags[SPEC_LIB_IMAGE] : tag;

	if (a->quick)
		return -ENOENT;
	quietly.err = &ignored;
	if (tree_value_names(&quietly, from, list, &values) == -EINTR)
		return err_set(a->err, -EINTR, "interrupted");
	explain(from, tag, raw, &values, &text);
	if (exclusion && raw && exists_elsewhere(from, raw))
		return err_set(a->err, -ENOENT, "%s:%.100s leaves nothing", tag->name,
			       raw);
	return err_set(a->err, -ENOENT, "%s", strbuf_str(&text));
}
