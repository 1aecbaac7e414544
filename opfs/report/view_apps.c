/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/view_apps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/percent.h"

static int compare_counts(const struct view_apps *v, const uint64_t *a, const uint64_t *b,
			  uint32_t image_a, uint32_t image_b)
{
	const struct catalog_image *images = v->p->cat->images;
	size_t nr = v->p->nr_classes;
	int order = view_compare(profile_sum(b, nr), profile_sum(a, nr));

	if (!order)
		order = strcmp(images[image_a].shown, images[image_b].shown);
	return v->options.reverse ? -order : order;
}

static int compare_apps(const void *x, const void *y, void *ctx)
{
	const struct view_app *a = x, *b = y;

	return compare_counts(ctx, a->samples, b->samples, a->app, b->app);
}

static int compare_images(const void *x, const void *y, void *ctx)
{
	const struct profile_pair *a = *(const struct profile_pair *const *)x;
	const struct profile_pair *b = *(const struct profile_pair *const *)y;

	return compare_counts(ctx, a->samples, b->samples, a->image, b->image);
}

static int by_pair_app(const void *x, const void *y)
{
	const struct profile_pair *a = *(const struct profile_pair *const *)x;
	const struct profile_pair *b = *(const struct profile_pair *const *)y;

	return view_compare(a->app, b->app);
}

static int begin_app(struct view_apps *v, struct view_app *app,
		     const struct profile_pair **first)
{
	size_t nr_classes = v->p->nr_classes;

	app->app = first[0]->app;
	app->images = first;
	app->gone = true;
	app->samples = arena_calloc(&v->arena, nr_classes, sizeof(uint64_t));
	app->was =
		v->p->base ? arena_calloc(&v->arena, nr_classes, sizeof(uint64_t)) : NULL;
	return app->samples && (app->was || !v->p->base) ? 0 : -ENOMEM;
}

/* A gone row shows what it was, unless others of the application are still there. */
static void add_pair(struct view_apps *v, struct view_app *app,
		     const struct profile_pair *pair)
{
	size_t nr_classes = v->p->nr_classes;

	if (pair->was && app->was) {
		view_add_samples(app->was, pair->was, nr_classes);
		view_add_samples(v->was_totals, pair->was, nr_classes);
	}
	app->nr_images++;
	if (pair->gone)
		return;
	app->gone = false;
	view_add_samples(app->samples, pair->samples, nr_classes);
	view_add_samples(v->totals, pair->samples, nr_classes);
}

/* @pairs are grouped by application; each group becomes an element of v->apps. */
static int group(struct view_apps *v, const struct profile_pair **pairs, size_t nr)
{
	struct view_app *app = NULL;

	for (size_t i = 0; i < nr; i++) {
		if (!app || app->app != pairs[i]->app) {
			app = &v->apps[v->nr_apps++];
			if (begin_app(v, app, &pairs[i]))
				return -ENOMEM;
		}
		add_pair(v, app, pairs[i]);
	}
	for (size_t i = 0; i < v->nr_apps; i++)
		if (v->apps[i].gone)
			v->apps[i].samples = v->apps[i].was;
	return 0;
}

static void threshold_apps(struct view_apps *v)
{
	size_t n = 0;

	for (size_t i = 0; i < v->nr_apps; i++)
		if (percent_reached(v->apps[i].samples, v->totals, v->p->nr_classes,
				    v->options.threshold))
			v->apps[n++] = v->apps[i];
	v->nr_apps = n;
}

static int fill_apps(struct view_apps *v)
{
	const struct profile *p = v->p;
	const struct profile_pair **pairs;
	size_t n = 0;
	int rc;

	pairs = arena_calloc(&v->arena, p->nr_pairs + 1, sizeof(*pairs));
	v->apps = arena_calloc(&v->arena, p->nr_pairs + 1, sizeof(*v->apps));
	v->totals = arena_calloc(&v->arena, p->nr_classes + 1, sizeof(*v->totals));
	v->was_totals =
		arena_calloc(&v->arena, p->nr_classes + 1, sizeof(*v->was_totals));
	if (!pairs || !v->apps || !v->totals || !v->was_totals)
		return -ENOMEM;
	for (size_t i = 0; i < p->nr_pairs; i++)
		if (!view_excludes(&v->options, p->pairs[i].app, p->pairs[i].image) &&
		    profile_any_sample(p->pairs[i].samples, p->nr_classes))
			pairs[n++] = &p->pairs[i];
	qsort(pairs, n, sizeof(*pairs), by_pair_app);
	rc = group(v, pairs, n);
	if (rc)
		return rc;
	for (size_t i = 0; i < v->nr_apps; i++) {
		struct view_app *app = &v->apps[i];

		qsort_r(app->images, app->nr_images, sizeof(*app->images), compare_images,
			v);
		app->alone = app->nr_images == 1 && app->images[0]->image == app->app;
	}
	threshold_apps(v);
	qsort_r(v->apps, v->nr_apps, sizeof(*v->apps), compare_apps, v);
	return 0;
}

int view_apps_init(struct view_apps *v, const struct profile *p,
		   const struct view_options *o)
{
	int rc;

	*v = (struct view_apps){ .p = p, .options = *o };
	rc = fill_apps(v);
	if (rc)
		view_apps_fini(v);
	return rc;
}

void view_apps_fini(struct view_apps *v)
{
	arena_fini(&v->arena);
	*v = (struct view_apps){ 0 };
}
