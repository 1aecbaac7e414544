/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/session/catalog_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/strbuf.h"

/* What has no file is one thing by its label, however many regions there are. */
static const char *short_name(const struct catalog_image *img)
{
	return img->label ? img->label : img->base;
}

static int by_short_name(const void *x, const void *y)
{
	const struct catalog_image *a = *(struct catalog_image *const *)x;
	const struct catalog_image *b = *(struct catalog_image *const *)y;
	int order = strcmp(short_name(a), short_name(b));

	return order ? order : strcmp(a->shown, b->shown);
}

/* Of one session: its table's order, to which later images are only added. */
static int by_row(const void *x, const void *y)
{
	const struct catalog_image *a = *(struct catalog_image *const *)x;
	const struct catalog_image *b = *(struct catalog_image *const *)y;

	if (a->row != b->row && a->row && b->row)
		return a->row < b->row ? -1 : 1;
	if (!a->row != !b->row)
		return a->row ? -1 : 1;
	return strcmp(a->shown, b->shown);
}

static int find_as(struct catalog *c, const char *name, const struct catalog_image *img)
{
	uint64_t image = (uint64_t)(img - c->images), other;

	if (map_get(&c->by_image, name, strlen(name), &other) && other != image)
		image = CATALOG_NO_IMAGE;
	return map_set(&c->by_image, name, strlen(name), image);
}

/* "NAME~NUMBER", with a number that makes it no other image's name.  *number: the last
 * one that was given. */
static int add_number(struct catalog *c, struct catalog_image *img, unsigned *number)
{
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };

	do {
		strbuf_reset(&name);
		strbuf_printf(&name, "%s~%u", img->base, ++*number);
		if (strbuf_error(&name))
			return -ENOMEM;
	} while (map_get(&c->by_image, name.data, name.len, NULL));
	img->listed = arena_strdup(&c->arena, name.data);
	return img->listed ? find_as(c, img->listed, img) : -ENOMEM;
}

/* Names images of one short name. */
static int name_alike(struct catalog *c, struct catalog_image **same, size_t nr)
{
	size_t regions = 0;
	unsigned number = 0;
	int rc = 0;

	for (size_t i = 0; i < nr; i++)
		regions += same[i]->label != NULL;
	if (c->nr_dirs == 1)
		qsort(same, nr, sizeof(*same), by_row);
	for (size_t i = 0; i < nr && !rc; i++) {
		if (nr == 1 || regions == nr)
			same[i]->listed = short_name(same[i]);
		else if (same[i]->label)
			same[i]->listed = same[i]->shown;
		else
			rc = add_number(c, same[i], &number);
	}
	return rc;
}

static int name_listed(struct catalog *c)
{
	CLEANUP(free_ptr)
	struct catalog_image **sorted =
		calloc(c->nr_images + 1, sizeof(struct catalog_image *));
	size_t end;
	int rc = sorted ? 0 : -ENOMEM;

	for (size_t i = 0; !rc && i < c->nr_images; i++)
		sorted[i] = &c->images[i];
	if (!rc)
		qsort(sorted, c->nr_images, sizeof(*sorted), by_short_name);
	for (size_t i = 0; !rc && i < c->nr_images; i = end) {
		for (end = i + 1; end < c->nr_images; end++)
			if (strcmp(short_name(sorted[i]), short_name(sorted[end])) != 0)
				break;
		rc = name_alike(c, sorted + i, end - i);
	}
	return rc;
}

int catalog_names(struct catalog *c)
{
	int rc = 0;

	c->names = arena_calloc(&c->arena, c->nr_images + 1, sizeof(*c->names));
	for (size_t i = 0; c->names && !rc && i < c->nr_images; i++) {
		const struct catalog_image *img = &c->images[i];

		rc = find_as(c, img->shown, img);
		rc = rc ? rc : find_as(c, img->base, img);
		if (!rc && img->label)
			rc = find_as(c, img->label, img);
	}
	rc = c->names ? rc : -ENOMEM;
	rc = rc ? rc : name_listed(c);
	for (size_t i = 0; !rc && i < c->nr_images; i++) {
		const struct catalog_image *img = &c->images[i];

		c->names[i] = (struct spec_match_image){ .shown = img->shown,
							 .base = img->base,
							 .label = img->label,
							 .listed = img->listed,
							 .kernel = img->kernel };
	}
	return rc;
}
