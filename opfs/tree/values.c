/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/tree/values.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "base/vec.h"
#include "libspec/name/glob.h"
#include "libspec/name/pid.h"
#include "libspec/spec/field.h"
#include "opfs/tree/browse.h"
#include "opfs/tree/present.h"
#include "opfs/tree/profiles.h"
#include "opfs/tree/sessions.h"
#include "opfs/tree/tag.h"
#include "opfs/tree/value.h"

/* How the values of a tag are listed. */

static int add_listed(struct names *out, const char *name)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	spec_listed(name, false, name, &text);
	return strbuf_error(&text) ? -ENOMEM : names_add(out, strbuf_str(&text));
}

/* ---- images */

/* Which images of a selection a tag speaks of. */
static bool *used_images(const struct place *p, enum spec_tag_id id)
{
	bool *used = calloc(p->cat->nr_images + 1, sizeof(*used));

	for (size_t i = 0; used && i < p->sel->nr; i++) {
		const struct catalog_file *f = &p->cat->files[p->sel->files[i]];

		if (id != SPEC_LIB_IMAGE && id != SPEC_LIB_IMAGE_EXCLUDE)
			used[f->app] = true;
		if (id != SPEC_IMAGE)
			used[f->image] = true;
	}
	return used;
}

static size_t count_apps(const struct place *p)
{
	CLEANUP(free_ptr) bool *used = used_images(p, SPEC_IMAGE);
	size_t nr = 0;

	for (size_t i = 0; used && i < p->cat->nr_images; i++)
		nr += used[i];
	return used ? nr : SIZE_MAX;
}

size_t tree_nr_apps(const struct place *p)
{
	size_t known = atomic_load_explicit(&p->sel->nr_apps, memory_order_relaxed);
	size_t nr = known ? known - 1 : count_apps(p);

	if (!known && nr != SIZE_MAX)
		atomic_store_explicit(&p->sel->nr_apps, nr + 1, memory_order_relaxed);
	return nr;
}

/* Is there a kernel to be named as a whole, and no image called as that is? */
static bool has_kernel(const struct catalog *cat, const bool *used)
{
	const char *name = SPEC_MATCH_KERNEL;
	uint64_t index;

	for (size_t i = 0; i < cat->nr_images; i++)
		if (used[i] && cat->images[i].kernel)
			return !map_get(&cat->by_image, name, strlen(name), &index);
	return false;
}

/* Does the value lead anywhere: would something else be left without the image, has the
 * older side such samples? */
static int is_possible(const struct ask *a, const struct place *p,
		       const struct spec_tag *tag, const char *listed, bool *is)
{
	struct place to;
	struct err ignored = { 0 };
	struct ask quietly = ask_quietly(a, &ignored);
	int rc;

	rc = tree_value(&quietly, p, tag, listed, &to);
	*is = !rc;
	if (!rc)
		place_fini(&to);
	if (rc == -EINTR)
		return err_set(a->err, rc, "interrupted");
	return rc == -ENOMEM || rc == -EAGAIN ? rc : 0;
}

static int keep_possible(const struct ask *a, const struct place *p,
			 const struct spec_tag *tag, struct names *n)
{
	size_t kept = 0;
	int rc = 0;

	for (size_t i = 0; i < n->len; i++) {
		bool possible = false;

		rc = rc ? rc : is_possible(a, p, tag, n->data[i], &possible);
		if (possible)
			n->data[kept++] = n->data[i];
		else
			free(n->data[i]);
	}
	n->len = kept;
	return rc;
}

static int image_names(const struct ask *a, const struct place *p,
		       const struct spec_tag *tag, struct names *out)
{
	CLEANUP(free_ptr) bool *used = used_images(p, tag->id);
	int rc = used ? 0 : -ENOMEM;

	for (size_t i = 0; i < p->cat->nr_images && !rc; i++)
		if (used[i])
			rc = add_listed(out, p->cat->images[i].listed);
	if (!rc && tag->id == SPEC_LIB_IMAGE && has_kernel(p->cat, used))
		rc = add_listed(out, SPEC_MATCH_KERNEL);
	if (rc)
		return ask_no_memory(a);
	names_sort(out);
	if (tree_is_exclusion(tag))
		rc = keep_possible(a, p, tag, out);
	return rc;
}

/* ---- events and numbers */

static int add_number(struct names *out, enum spec_tag_id id, int64_t number)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	if (id == SPEC_UNIT_MASK && number)
		strbuf_printf(&text, "0x%02" PRIx64, (uint64_t)number);
	else if (id == SPEC_TGID || id == SPEC_TID)
		spec_pid_show(number, &text);
	else
		strbuf_printf(&text, "%" PRIu64, (uint64_t)number);
	return strbuf_error(&text) ? -ENOMEM : names_add(out, text.data);
}

static int compare_numbers(const void *x, const void *y)
{
	uint64_t a = strtoull(*(char *const *)x, NULL, 0);
	uint64_t b = strtoull(*(char *const *)y, NULL, 0);

	if (a != b)
		return a < b ? -1 : 1;
	return strcmp(*(char *const *)x, *(char *const *)y); /* 7 and 7.2 */
}

static int file_values(const struct ask *a, const struct place *p,
		       const struct spec_tag *tag, struct names *out)
{
	const struct spec_field *field = spec_field_of(tag->id);
	CLEANUP(map_u64_fini) struct map_u64 seen = { 0 };
	int rc = 0;

	for (size_t i = 0; i < p->sel->nr && !rc; i++) {
		const struct spec_name *n = &p->cat->files[p->sel->files[i]].name;
		int64_t number;
		uint64_t one;

		if (tag->kind == SPEC_TAG_NAMES) {
			if (!i || strcmp(n->event,
					 p->cat->files[p->sel->files[i - 1]].name.event))
				rc = add_listed(out, n->event);
			continue;
		}
		number = spec_field_number(field, n);
		if ((number < 0 && field->separated) ||
		    map_u64_get(&seen, (uint64_t)number, &one))
			continue;
		rc = map_u64_set(&seen, (uint64_t)number, 1);
		rc = rc ? rc : add_number(out, tag->id, number);
	}
	if (rc)
		return ask_no_memory(a);
	names_sort(out);
	if (tag->kind == SPEC_TAG_NUMBERS && out->len)
		qsort(out->data, out->len, sizeof(*out->data), compare_numbers);
	return 0;
}

/* ---- processes */

static int task_names(const struct ask *a, const struct place *p,
		      const struct spec_tag *tag, struct names *out)
{
	CLEANUP(map_fini) struct map seen = { 0 };
	int rc = 0;

	for (size_t i = 0; i < p->sel->nr && !rc; i++) {
		const struct catalog_file *f = &p->cat->files[p->sel->files[i]];
		const char *text = tree_task_text(a, p->cat, f, tag);

		if (!text || map_get(&seen, text, strlen(text), NULL))
			continue;
		rc = map_set(&seen, text, strlen(text), 1);
		rc = rc ? rc : add_listed(out, text);
	}
	names_sort(out);
	return rc ? ask_no_memory(a) : 0;
}

/* ---- sessions */

static int session_names(const struct ask *a, const struct place *p,
			 const struct spec_tag *tag, struct names *out)
{
	CLEANUP(names_fini) struct names all = { 0 };
	int rc = 0;

	if (tag->id == SPEC_SESSION)
		rc = tree_sessions(a->t, a->v, &all, a->err);
	for (size_t i = 0; i < p->spec->nr_sessions && tag->id != SPEC_SESSION && !rc;
	     i++)
		rc = names_add(&all, p->spec->sessions[i]);
	if (tag->id != SPEC_SESSION && all.len < 2) /* nothing would be left */
		return rc;
	for (size_t i = 0; i < all.len && !rc; i++)
		rc = add_listed(out, all.data[i]);
	names_sort(out);
	return rc;
}

int tree_value_names(const struct ask *a, const struct place *p,
		     const struct spec_tag *tag, struct names *out)
{
	int rc;

	switch (tag->kind) {
	case SPEC_TAG_IMAGES:
		return image_names(a, p, tag, out);
	case SPEC_TAG_SYMBOL:
		return tree_symbol_names(a, p, out);
	case SPEC_TAG_FRAMES:
		return tree_browse_names(a, p, tag, out);
	case SPEC_TAG_TASKS:
		return task_names(a, p, tag, out);
	case SPEC_TAG_SPAN:
		return tree_span_names(a, tag, out);
	case SPEC_TAG_SESSIONS:
		return session_names(a, p, tag, out);
	case SPEC_TAG_NAMES:
	case SPEC_TAG_NUMBERS:
		return file_values(a, p, tag, out);
	case SPEC_TAG_DIFF:
		rc = session_names(a, p, &spec_tags[SPEC_SESSION], out);
		return rc ? rc : keep_possible(a, p, tag, out);
	default:
		return tree_words(a, tag, out);
	}
}

static bool has_field(const struct ask *a, const struct place *p,
		      const struct spec_field *field)
{
	for (size_t i = 0; i < p->sel->nr; i++) {
		const struct catalog_file *f = &p->cat->files[p->sel->files[i]];
		const struct spec_tag *tag = &spec_tags[field->tag];

		if (tag->kind == SPEC_TAG_TASKS
			    ? tree_task_text(a, p->cat, f, tag) != NULL
			    : spec_field_number(field, &f->name) >= 0)
			return true;
	}
	return false;
}

bool tree_has_values(const struct ask *a, const struct place *p,
		     const struct spec_tag *tag)
{
	const struct spec_field *field = spec_field_of(tag->id);
	CLEANUP(names_fini) struct names values = { 0 };

	if (field)
		return has_field(a, p, field);
	if (tag->kind == SPEC_TAG_FRAMES)
		return place_has_stacks(p);
	if (!tree_is_exclusion(tag) && tag->id != SPEC_SESSION_EXCLUDE)
		return p->sel->nr > 0;
	return !tree_value_names(a, p, tag, &values) && values.len;
}

/* ---- the beginning of a path: what can follow */

/* The components that follow, for every way in which the pattern leads to the image. */
static int add_next(const char *pattern, const char *shown, struct names *out)
{
	int rc = 0;

	for (const char *s = strchr(shown + (*shown != 0), '/'); s && !rc;
	     s = strchr(s + 1, '/')) {
		CLEANUP(strbuf_fini) struct strbuf listed = { 0 };
		CLEANUP(free_ptr) char *next = NULL;

		if (!spec_glob_n(pattern, shown, (size_t)(s - shown)))
			continue;
		next = strndup(s + 1, strcspn(s + 1, "/"));
		if (!next)
			return -ENOMEM;
		spec_listed(next, false, next, &listed);
		/* what is cut short means nothing inside a path */
		if (strlen(next) && !spec_listed_cut(strbuf_str(&listed)))
			rc = names_add(out, strbuf_str(&listed));
	}
	return rc;
}

static int add_all_next(const struct place *p, const char *pattern, struct names *out)
{
	int rc = 0;

	for (size_t i = 0; i < p->sel->nr && !rc; i++) {
		const struct catalog_file *f = &p->cat->files[p->sel->files[i]];
		const struct spec_match_image *names = p->cat->names;

		if (p->tag->id != SPEC_LIB_IMAGE && p->tag->id != SPEC_LIB_IMAGE_EXCLUDE)
			rc = add_next(pattern, names[f->app].shown, out);
		if (!rc && p->tag->id != SPEC_IMAGE && !names[f->image].label)
			rc = add_next(pattern, names[f->image].shown, out);
	}
	return rc;
}

static void add_pattern(const char *text, struct strbuf *out)
{
	for (; *text; text++) {
		if (strchr("*?[\\", *text))
			strbuf_putc(out, '\\');
		strbuf_putc(out, *text);
	}
}

/* The last item of the open value as a pattern of paths, and what that is with its
 * symbolic links resolved (empty: the same). */
static int last_pattern(const struct ask *a, const struct place *p, struct strbuf *out,
			struct strbuf *real)
{
	CLEANUP(spec_value_putp) struct spec_value *v = NULL;
	CLEANUP(strbuf_fini) struct strbuf path = { 0 }, resolved = { 0 };
	const struct spec_item *last;
	int rc = spec_value_new(p->tag, p->value, false, &v, a->err);

	if (rc || !v->items.nr || v->items.open)
		return rc;
	last = &v->items.items[v->items.nr - 1];
	strbuf_printf(out, "%s%s", last->text[0] != '/' ? "/" : "", last->pattern);
	strbuf_printf(&path, "%s%s", last->text[0] != '/' ? "/" : "", last->text);
	if (last->glob || strbuf_error(&path))
		return strbuf_error(out);
	rc = resolver_path(a->t->resolver, path.data, a->v, &resolved, a->err);
	if (rc && rc != -ENOENT)
		return rc;
	add_pattern(strbuf_str(&resolved), real);
	return strbuf_error(out);
}

/* Leaves out what would leave nothing if it were excluded. */
static int drop_last_ones(const struct ask *a, const struct place *p, struct names *n)
{
	struct err ignored = { 0 };
	struct ask quiet = ask_quietly(a, &ignored);
	size_t kept = 0;
	int rc = 0;

	for (size_t i = 0; i < n->len; i++) {
		struct place to;
		int got = rc ? 0 : tree_value_join(&quiet, p, n->data[i], &to);

		if (!rc && !got)
			place_fini(&to);
		if (got && got != -ENOENT)
			rc = err_set(a->err, got, "%s", ignored.msg);
		if (got == -ENOENT)
			free(n->data[i]);
		else
			n->data[kept++] = n->data[i];
	}
	n->len = kept;
	return rc;
}

int tree_prefix_names(const struct ask *a, const struct place *p, struct names *out)
{
	CLEANUP(strbuf_fini) struct strbuf pattern = { 0 }, real = { 0 };
	int rc = last_pattern(a, p, &pattern, &real);

	if (rc)
		return rc;
	if (!pattern.len) { /* after a comma anything may follow */
		rc = tree_value_names(a, p, p->tag, out);
	} else {
		rc = add_all_next(p, pattern.data, out);
		if (!rc && real.len)
			rc = add_all_next(p, real.data, out);
		names_sort(out);
		if (rc)
			err_set(a->err, rc, "out of memory");
	}
	if (rc)
		return rc;
	return tree_is_exclusion(p->tag) ? drop_last_ones(a, p, out) : 0;
}
