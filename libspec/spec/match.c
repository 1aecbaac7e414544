/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libspec/spec/match.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* ---- one item of a list of images */

enum item_how {
	ITEM_EXACT, /* something is called so */
	ITEM_KERN,  /* SPEC_MATCH_KERNEL */
	ITEM_GLOB,  /* a pattern, perhaps without wildcards */
};

#define SEVERAL SIZE_MAX

struct item {
	enum item_how how;
	const char *text;    /* EXACT */
	size_t only;         /* EXACT: the only image that is called so, or SEVERAL */
	const char *pattern; /* GLOB: of bare names */
	const char *path; /* GLOB: the pattern with a "/" in front; NULL: a bare name */
	struct strbuf rooted;
};

static void item_fini(struct item *it)
{
	strbuf_fini(&it->rooted);
}

static bool is_called(const struct spec_match_image *img, const char *text)
{
	return !strcmp(img->shown, text) || !strcmp(img->base, text) ||
	       (img->label && !strcmp(img->label, text)) ||
	       (img->listed && !strcmp(img->listed, text));
}

static bool is_kernel(const char *text)
{
	static const char *const names[] = { SPEC_MATCH_KERNEL, "[kernel]", "{kern}" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i], text))
			return true;
	return false;
}

static bool is_path(const char *text)
{
	return strchr(text, '/') != NULL;
}

/* Decides what an item is.  @it->rooted holds what is made of it. */
static int item_init(const struct spec_match *m, const struct spec_item *from,
		     bool prefix, struct item *it)
{
	bool rooted = from->text[0] != '/' && (prefix || is_path(from->text));

	*it = (struct item){ .how = ITEM_GLOB,
			     .pattern = from->pattern,
			     .only = SEVERAL };
	if (!prefix && m->has_image(m->ctx, from->text, &it->only)) {
		it->how = ITEM_EXACT;
		it->text = from->text;
		return 0;
	}
	if (!prefix && is_kernel(from->text)) {
		it->how = ITEM_KERN;
		return 0;
	}
	if (!rooted) {
		it->path = is_path(from->text) ? from->pattern : NULL;
		return 0;
	}
	strbuf_putc(&it->rooted, '/');
	strbuf_puts(&it->rooted, from->text);
	if (!prefix && m->has_image(m->ctx, strbuf_str(&it->rooted), &it->only)) {
		it->how = ITEM_EXACT;
		it->text = strbuf_str(&it->rooted);
		return strbuf_error(&it->rooted);
	}
	strbuf_truncate(&it->rooted, 1);
	strbuf_puts(&it->rooted, from->pattern);
	it->path = strbuf_str(&it->rooted);
	return strbuf_error(&it->rooted);
}

static bool item_matches(const struct item *it, const struct spec_match_image *img)
{
	switch (it->how) {
	case ITEM_EXACT:
		return is_called(img, it->text);
	case ITEM_KERN:
		return img->kernel;
	case ITEM_GLOB:
		break;
	}
	if (spec_glob(it->pattern, img->shown))
		return true;
	if (it->path)
		return spec_glob(it->path, img->shown);
	return spec_glob(it->pattern, img->base) ||
	       (img->label && spec_glob(it->pattern, img->label));
}

/* Is what the pattern means a directory on the way to the image? */
static bool leads_to(const char *pattern, const char *shown)
{
	for (const char *s = strchr(shown + (*shown != 0), '/'); s;
	     s = strchr(s + 1, '/'))
		if (spec_glob_n(pattern, shown, (size_t)(s - shown)))
			return true;
	return false;
}

static bool mark(const struct spec_match *m, const struct item *it, bool prefix,
		 bool *bits)
{
	bool any = false;

	if (it->only < m->nr_images)
		return bits[it->only] = true;
	for (size_t i = 0; i < m->nr_images; i++) {
		const struct spec_match_image *img = &m->images[i];
		bool hit = prefix ? !img->label &&
					    leads_to(it->path ? it->path : it->pattern,
						     img->shown)
				  : item_matches(it, img);

		bits[i] |= hit;
		any |= hit;
	}
	return any;
}

/* ---- the same through symbolic links */

/* Bytes of a pattern up to the last "/" in front of the first wildcard. */
static size_t literal_part(const char *pattern)
{
	size_t end = strcspn(pattern, "*?[\\");

	if (!pattern[end])
		return end;
	while (end && pattern[end - 1] != '/')
		end--;
	return end ? end - 1 : 0;
}

static void add_pattern(const char *text, struct strbuf *out)
{
	for (; *text; text++) {
		if (strchr("*?[]\\", *text))
			strbuf_putc(out, '\\');
		strbuf_putc(out, *text);
	}
}

/* -ENOENT: it is no path, or holds no links. */
static int resolve_item(const struct spec_match *m, const struct item *it,
			struct strbuf *pattern)
{
	CLEANUP(strbuf_fini) struct strbuf path = { 0 }, real = { 0 };
	const char *from = it->path;
	size_t len;
	int rc;

	if (!from || it->how != ITEM_GLOB || !m->resolve)
		return -ENOENT;
	len = literal_part(from);
	strbuf_add(&path, from, len);
	if (!path.len || strbuf_error(&path))
		return -ENOENT;
	rc = m->resolve(m->ctx, strbuf_str(&path), &real);
	if (rc)
		return rc;
	add_pattern(strbuf_str(&real), pattern);
	strbuf_puts(pattern, from + len);
	return strbuf_error(pattern);
}

static int mark_item(const struct spec_match *m, const struct spec_item *from,
		     bool prefix, bool *bits)
{
	CLEANUP(strbuf_fini) struct strbuf pattern = { 0 };
	CLEANUP(item_fini) struct item it = { 0 };
	struct item through = { .how = ITEM_GLOB, .only = SEVERAL };
	size_t only;
	int rc;

	if (!prefix && m->mark_jit && !strcmp(from->text, SPEC_MATCH_JIT) &&
	    !m->has_image(m->ctx, from->text, &only))
		return m->mark_jit(m->ctx, bits);
	rc = item_init(m, from, prefix, &it);
	if (rc || mark(m, &it, prefix, bits))
		return rc;
	rc = resolve_item(m, &it, &pattern);
	if (rc)
		return rc == -ENOENT ? 0 : rc;
	through.pattern = through.path = strbuf_str(&pattern);
	mark(m, &through, prefix, bits);
	return 0;
}

static int mark_list(const struct spec_match *m, const struct spec_value *v, bool prefix,
		     bool *bits)
{
	size_t first = prefix && v->items.nr ? v->items.nr - 1 : 0;

	if (prefix && v->items.open)
		return 0;
	if (v->all && !prefix) {
		memset(bits, true, m->nr_images);
		return 0;
	}
	for (size_t i = first; i < v->items.nr; i++) {
		int rc = mark_item(m, &v->items.items[i], prefix, bits);

		if (rc)
			return rc;
	}
	return 0;
}

int spec_match_images(const struct spec_match *m, const struct spec_value *v, bool prefix,
		      bool *bits, struct err *err)
{
	struct item whole = { .how = ITEM_EXACT, .text = v->text, .only = SEVERAL };
	int rc;

	memset(bits, 0, m->nr_images);
	if (v->exact && !prefix) {
		m->has_image(m->ctx, v->text, &whole.only);
		mark(m, &whole, false, bits);
		return 0;
	}
	rc = mark_list(m, v, prefix, bits);
	return rc ? err_set(err, rc, "%.100s: %s", v->raw, strerror(-rc)) : 0;
}

int spec_match_item(const struct spec_match *m, const struct spec_value *v, size_t item,
		    bool *found, struct err *err)
{
	CLEANUP(free_ptr) bool *bits = calloc(m->nr_images + 1, sizeof(*bits));
	int rc = bits ? 0 : -ENOMEM;

	*found = false;
	if (!rc && item < v->items.nr)
		rc = mark_item(m, &v->items.items[item], false, bits);
	for (size_t i = 0; i < m->nr_images && !rc; i++)
		*found |= bits[i];
	return rc ? err_set(err, rc, "%.100s: %s", v->raw, strerror(-rc)) : 0;
}

/* ---- events and numbers */

static bool is_cycles(const char *event)
{
	static const char *const names[] = { "cycles", "CPU_CLK_UNHALTED", "CPU_CYCLES",
					     "cpu-cycles" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i], event))
			return true;
	return false;
}

bool spec_match_event(const struct spec_match *m, const struct spec_value *v,
		      const char *event)
{
	if (v->exact)
		return !strcmp(v->text, event);
	if (v->all)
		return true;
	for (size_t i = 0; i < v->items.nr; i++) {
		const char *item = v->items.items[i].text;

		if (!strcmp(item, event))
			return true;
		if (is_cycles(item) && is_cycles(event) && !m->has_event(m->ctx, item))
			return true;
	}
	return false;
}

static bool holds_number(const struct spec_value *v, uint64_t number)
{
	for (size_t i = 0; i < v->nr_numbers; i++)
		if (v->numbers[i] == number)
			return true;
	return v->all;
}

bool spec_match_number(const struct spec_value *v, int64_t number)
{
	return number < 0 ? v->all : holds_number(v, (uint64_t)number);
}

/* ---- processes */

static bool has_component(const char *pattern, const char *path)
{
	while (*path) {
		size_t len = strcspn(path, "/");

		if (len && spec_glob_n(pattern, path, len))
			return true;
		path += len + (path[len] == '/');
	}
	return false;
}

bool spec_match_task(const struct spec_tag *tag, const struct spec_value *v,
		     const char *text)
{
	if (v->all || !text)
		return v->all;
	if (v->exact)
		return !strcmp(v->text, text);
	for (size_t i = 0; i < v->items.nr; i++) {
		const struct spec_item *it = &v->items.items[i];

		if (spec_glob(it->pattern, text) ||
		    (tag->id == SPEC_CGROUP && !strchr(it->text, '/') &&
		     has_component(it->pattern, text)))
			return true;
	}
	return false;
}

/* ---- files */

int spec_select_init(struct spec_select *s, const struct spec *spec,
		     const struct spec_match *match, const struct spec_tag *prefix,
		     struct err *err)
{
	struct spec_select made = { .spec = spec, .match = match };
	int rc = 0;

	for (size_t i = 0; i < spec_nr_fields; i++)
		if (spec->values[spec_fields[i].tag])
			made.fields[made.nr_fields++] = &spec_fields[i];
	for (size_t i = 0; i < SPEC_NR_TAGS && !rc; i++) {
		if (!spec->values[i] || spec_tags[i].kind != SPEC_TAG_IMAGES)
			continue;
		made.bits[i] = calloc(match->nr_images + 1, sizeof(bool));
		if (!made.bits[i])
			rc = err_set(err, -ENOMEM, "out of memory");
		else
			rc = spec_match_images(match, spec->values[i],
					       prefix && prefix->id == i, made.bits[i],
					       err);
	}
	if (rc)
		spec_select_fini(&made);
	else
		*s = made;
	return rc;
}

void spec_select_fini(struct spec_select *s)
{
	for (size_t i = 0; i < SPEC_NR_TAGS; i++)
		free(s->bits[i]);
	*s = (struct spec_select){ 0 };
}

static bool has(const struct spec_select *s, enum spec_tag_id id, uint32_t image)
{
	return s->bits[id] && s->bits[id][image];
}

/* True if the tag is not given, or means the image. */
static bool allows(const struct spec_select *s, enum spec_tag_id id, uint32_t image)
{
	return !s->bits[id] || s->bits[id][image];
}

static bool images_match(const struct spec_select *s, uint32_t app, uint32_t image)
{
	return (allows(s, SPEC_DEFAULT, app) || allows(s, SPEC_DEFAULT, image)) &&
	       allows(s, SPEC_IMAGE, app) && allows(s, SPEC_LIB_IMAGE, image) &&
	       !has(s, SPEC_IMAGE_EXCLUDE, app) && !has(s, SPEC_IMAGE_EXCLUDE, image) &&
	       !has(s, SPEC_LIB_IMAGE_EXCLUDE, image);
}

static bool field_matches(const struct spec_field *f, const struct spec_value *v,
			  const struct spec_match_file *file)
{
	int64_t number;

	if (spec_tags[f->tag].kind == SPEC_TAG_TASKS)
		return spec_match_task(&spec_tags[f->tag], v,
				       spec_field_text(f, file->task));
	number = spec_field_number(f, file->name);
	return f->separated ? spec_match_number(v, number)
			    : holds_number(v, (uint64_t)number);
}

bool spec_select_file(const struct spec_select *s, const struct spec_match_file *f)
{
	const struct spec_value *event = s->spec->values[SPEC_EVENT];
	bool matches = images_match(s, f->app, f->image) &&
		       (!event || spec_match_event(s->match, event, f->name->event));

	for (size_t i = 0; i < s->nr_fields && matches; i++)
		matches = field_matches(s->fields[i], s->spec->values[s->fields[i]->tag],
					f);
	return matches;
}
