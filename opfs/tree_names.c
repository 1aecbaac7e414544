/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/vec.h"
#include "libspec/pid.h"
#include "opfs/tree_impl.h"

static int no_memory(const struct ask *a)
{
	return err_set(a->err, -ENOMEM, "out of memory");
}

/* ---- lists of names */

int names_add(struct names *n, const char *name)
{
	char *copy = strdup(name);

	if (copy && !vec_push(n, copy))
		return 0;
	free(copy);
	return -ENOMEM;
}

static int compare(const void *x, const void *y)
{
	return strcmp(*(char *const *)x, *(char *const *)y);
}

void names_sort(struct names *n)
{
	size_t kept = 0;

	if (!n->len)
		return;
	qsort(n->data, n->len, sizeof(*n->data), compare);
	for (size_t i = 0; i < n->len; i++) {
		if (kept && !strcmp(n->data[kept - 1], n->data[i]))
			free(n->data[i]);
		else
			n->data[kept++] = n->data[i];
	}
	n->len = kept;
}

void names_fini(struct names *n)
{
	for (size_t i = 0; i < n->len; i++)
		free(n->data[i]);
	vec_fini(n);
}

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

/* The short name of an image: regions of memory with the same label are one. */
static const char *short_name(const struct catalog_image *img)
{
	return img->label ? img->label : img->base;
}

/* Counts for every short name the images that it could mean, saturating at 2. */
static int count_short(const struct catalog *cat, const bool *used, struct map *counts)
{
	int rc = 0;

	for (size_t i = 0; i < cat->nr_images && !rc; i++) {
		const char *name = short_name(&cat->images[i]);
		uint64_t seen = 0, mine = cat->images[i].label ? 1 : 2;

		if (!used[i])
			continue;
		/* 1: regions of one label; 2: one file; more: several things */
		if (map_get(counts, name, strlen(name), &seen))
			mine = seen == 1 && mine == 1 ? 1 : 3;
		rc = map_set(counts, name, strlen(name), mine);
	}
	return rc;
}

/* Does the value lead anywhere: would something else be left without the image, has the
 * older side such samples? */
static int is_possible(const struct ask *a, const struct place *p,
		       const struct spec_tag *tag, const char *listed, bool *is)
{
	struct place to;
	struct err ignored = { 0 };
	struct ask quietly = *a;
	int rc;

	quietly.err = &ignored;
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
	CLEANUP(map_fini) struct map counts = { 0 };
	int rc = used ? count_short(p->cat, used, &counts) : -ENOMEM;

	for (size_t i = 0; i < p->cat->nr_images && !rc; i++) {
		const struct catalog_image *img = &p->cat->images[i];
		const char *name = short_name(img);
		uint64_t count = 0;

		if (!used[i])
			continue;
		map_get(&counts, name, strlen(name), &count);
		rc = add_listed(out, count <= 2 ? name : img->shown);
	}
	if (rc)
		return no_memory(a);
	names_sort(out);
	if (tree_is_exclusion(tag))
		rc = keep_possible(a, p, tag, out);
	return rc;
}

static bool listed_as(const char *name, const char *raw)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	spec_listed(name, false, name, &text);
	return !strcmp(strbuf_str(&text), raw);
}

uint32_t tree_cut_image(const struct catalog *cat, const char *raw, const char **name)
{
	for (uint32_t i = 0; i < cat->nr_images; i++) {
		const struct catalog_image *img = &cat->images[i];
		const char *names[] = { short_name(img), img->shown };

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

/* ---- events and numbers */

static int64_t number_of(const struct spec_name *n, enum spec_tag_id id)
{
	switch (id) {
	case SPEC_COUNT:
		return (int64_t)n->count;
	case SPEC_UNIT_MASK:
		return (int64_t)n->unit_mask;
	case SPEC_TGID:
		return n->tgid;
	case SPEC_TID:
		return n->tid;
	default:
		return n->cpu;
	}
}

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
	return compare(x, y); /* 7 and 7.2 */
}

static int file_values(const struct ask *a, const struct place *p,
		       const struct spec_tag *tag, struct names *out)
{
	CLEANUP(map_u64_fini) struct map_u64 seen = { 0 };
	int rc = 0;

	for (size_t i = 0; i < p->sel->nr && !rc; i++) {
		const struct spec_name *n = &p->cat->files[p->sel->files[i]].name;
		int64_t number = number_of(n, tag->id);
		uint64_t one;

		if (tag->kind == SPEC_TAG_NAMES) {
			if (!i || strcmp(n->event,
					 p->cat->files[p->sel->files[i - 1]].name.event))
				rc = add_listed(out, n->event);
			continue;
		}
		if ((number < 0 && tag->id != SPEC_COUNT && tag->id != SPEC_UNIT_MASK) ||
		    map_u64_get(&seen, (uint64_t)number, &one))
			continue;
		rc = map_u64_set(&seen, (uint64_t)number, 1);
		rc = rc ? rc : add_number(out, tag->id, number);
	}
	if (rc)
		return no_memory(a);
	names_sort(out);
	if (tag->kind == SPEC_TAG_NUMBERS && out->len)
		qsort(out->data, out->len, sizeof(*out->data), compare_numbers);
	return 0;
}

/* ---- processes */

const char *tree_task_text(const struct catalog_file *f, const struct spec_tag *tag)
{
	if (!f->task)
		return NULL;
	return tag->id == SPEC_COMM ? f->task->comm : f->task->cgroup;
}

bool tree_has_task(const struct catalog *cat, const struct spec_tag *tag, const char *text)
{
	for (size_t i = 0; i < cat->nr_flat; i++) {
		const char *is = tree_task_text(&cat->files[i], tag);

		if (is && !strcmp(is, text))
			return true;
	}
	return false;
}

static int task_names(const struct ask *a, const struct place *p,
		      const struct spec_tag *tag, struct names *out)
{
	CLEANUP(map_fini) struct map seen = { 0 };
	int rc = 0;

	for (size_t i = 0; i < p->sel->nr && !rc; i++) {
		const char *text = tree_task_text(&p->cat->files[p->sel->files[i]], tag);

		if (!text || map_get(&seen, text, strlen(text), NULL))
			continue;
		rc = map_set(&seen, text, strlen(text), 1);
		rc = rc ? rc : add_listed(out, text);
	}
	names_sort(out);
	return rc ? no_memory(a) : 0;
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
