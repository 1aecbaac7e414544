/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/opfs/places.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "opfs/reports.h"

struct sessions disk;
struct tree *tree;
const struct viewer owner;

void places_init(void)
{
	sessions_init(&disk);
}

void places_fini(void)
{
	tree_free(tree);
	tree = NULL;
	sessions_fini(&disk);
}

void open_tree(bool shared)
{
	struct tree_options o = { .session_dir = disk.dir,
				  .reports = &opfs_reports,
				  .shared = shared,
				  .owner = geteuid(),
				  .cache_bytes = 1 << 20,
				  .about = "a test" };
	struct err err;

	cr_assert_eq(tree_new(&o, &tree, &err), 0, "%s", err.msg);
}

struct place walk(const char *path)
{
	struct err err = { 0 };
	struct place p;

	cr_assert_eq(tree_walk(tree, path, &owner, &p, NULL, &err), 0, "%s: %s", path,
		     err.msg);
	return p;
}

uint64_t samples(const char *path)
{
	struct place p = walk(path);
	uint64_t n = place_samples(&p);

	place_fini(&p);
	return n;
}

int fails(const char *path, const struct viewer *v, struct err *err)
{
	struct place p;
	int rc = tree_walk(tree, path, v, &p, NULL, err);

	if (!rc)
		place_fini(&p);
	return rc;
}

int keep(void *ctx, const struct tree_entry *e)
{
	struct found *f = ctx;

	cr_assert_lt(f->nr, 2000);
	f->kind[f->nr] = e->kind;
	f->data[f->nr++] = strdup(e->name);
	return 0;
}

void found_fini(struct found *f)
{
	for (size_t i = 0; i < f->nr; i++)
		free(f->data[i]);
	f->nr = 0;
}

size_t nr_listed(void)
{
	size_t nr = 0;

	for (size_t i = 0; i < opfs_reports.nr; i++)
		nr += !opfs_reports.all[i]->more && !opfs_reports.all[i]->symbol &&
		      !opfs_reports.all[i]->calls;
	return nr;
}

bool lists(const char *path, const char *name)
{
	struct found *f = calloc(1, sizeof(*f));
	struct place p = walk(path);
	struct err err;
	bool is = false;

	cr_assert_eq(tree_list(tree, &p, &owner, keep, f, &err), 0, "%s: %s", path,
		     err.msg);
	for (size_t i = 0; i < f->nr; i++)
		is |= !strcmp(f->data[i], name);
	found_fini(f);
	free(f);
	place_fini(&p);
	return is;
}

char *status_of(const struct viewer *v)
{
	struct place p = walk("status");
	struct text *text;
	char *copy;

	cr_assert_eq(tree_text(tree, &p, v, &text, NULL), 0);
	copy = strndup(text->data, text->len);
	text_put(text);
	place_fini(&p);
	return copy;
}

int text_of(const char *path, const struct viewer *v, struct err *err)
{
	struct place p = walk(path);
	struct text *text;
	int rc = tree_text(tree, &p, v, &text, err);

	if (!rc)
		text_put(text);
	place_fini(&p);
	return rc;
}
