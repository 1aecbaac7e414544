/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/profile/compare.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/percent.h"
#include "base/until.h"
#include "base/vec.h"
#include "opfs/profile/profile.h"

/* Compares two profiles: tag diff:. */

struct compare {
	struct profile *now, *was, *out;
	uint32_t *now_of, *was_of; /* of each image of a side: its index in out->cat */
	bool *merged;              /* images of out->cat whose rows are merged by name */
	struct err *err;
};

static int no_memory(struct compare *c)
{
	return err_set(c->err, -ENOMEM, "out of memory while comparing profiles");
}

/* ---- classes */

static int check_classes(struct compare *c)
{
	const struct profile *a = c->now, *b = c->was;

	if (a->nr_classes != b->nr_classes || (a->nr_classes > 1 && a->axis != b->axis))
		return err_set(c->err, -EINVAL,
			       "the two sides have %zu and %zu columns: choose the same "
			       "with event:, cpu:, tgid: or tid:",
			       a->nr_classes, b->nr_classes);
	for (size_t i = 0; i < a->nr_classes; i++) {
		const struct profile_class *x = &a->classes[i], *y = &b->classes[i];

		if (strcmp(x->event, y->event) != 0 || x->count != y->count ||
		    x->cpu != y->cpu)
			return err_set(c->err, -EINVAL,
				       "the two sides count different things: "
				       "%.60s:%" PRIu64 " and %.60s:%" PRIu64
				       ": choose one with event: and count:",
				       x->event, x->count, y->event, y->count);
	}
	return 0;
}

static int copy_classes(struct compare *c)
{
	struct profile *p = c->out;

	p->nr_classes = c->now->nr_classes;
	p->classes = arena_calloc(&p->arena, p->nr_classes + 1, sizeof(*p->classes));
	if (!p->classes)
		return no_memory(c);
	for (size_t i = 0; i < p->nr_classes; i++) {
		p->classes[i] = c->now->classes[i];
		p->classes[i].was_total = c->was->classes[i].total;
	}
	return 0;
}

/* ---- images */

#define UNPAIRED UINT32_MAX

/* The only application of a profile, or UNPAIRED. */
static uint32_t only_app(const struct profile *p)
{
	uint32_t app = UNPAIRED;

	for (size_t i = 0; i < p->nr_pairs; i++) {
		if (app != UNPAIRED && p->pairs[i].app != app)
			return UNPAIRED;
		app = p->pairs[i].app;
	}
	return app;
}

/* The image with that basename, if only one of those in use has it. */
static uint32_t only_base(const struct profile *p, const char *base)
{
	uint32_t found = UNPAIRED;

	for (uint32_t i = 0; i < p->cat->nr_images; i++) {
		if (!p->images[i].used || strcmp(p->cat->images[i].base, base) != 0)
			continue;
		if (found != UNPAIRED)
			return UNPAIRED;
		found = i;
	}
	return found;
}

/*
 * Anonymous memory of one kind is an image of its own in every process: all are merged.
 */
static uint32_t labelled(const struct profile *p, const char *label)
{
	for (uint32_t i = 0; label && i < p->cat->nr_images; i++)
		if (p->images[i].used && p->cat->images[i].label &&
		    !strcmp(p->cat->images[i].label, label))
			return i;
	return UNPAIRED;
}

/* The image of that path, in use or not. */
static uint32_t same_path(const struct profile *p, const char *path)
{
	for (uint32_t i = 0; i < p->cat->nr_images; i++)
		if (!strcmp(p->cat->images[i].shown, path))
			return i;
	return UNPAIRED;
}

/*
 * Two builds of a program lie in two places.  Paired are, in this order: the same path,
 * the only application of both sides, the only image of that basename on both sides.  In
 * one session both sides have the paths of all its programs, so only images in use
 * count.
 */
static uint32_t pair_image(const struct compare *c, uint32_t image)
{
	const struct catalog_image *img = &c->was->cat->images[image];
	uint32_t now_app = only_app(c->now), was_app = only_app(c->was), same, found;

	if (img->label)
		return labelled(c->now, img->label);
	same = same_path(c->now, img->shown);
	if (same != UNPAIRED && c->now->images[same].used)
		return same;
	if (image == was_app && now_app != UNPAIRED)
		return now_app;
	found = only_base(c->now, img->base);
	return found != UNPAIRED && only_base(c->was, img->base) == image ? found : same;
}

static bool by_symbol(const struct profile_image *img)
{
	return img->table && sym_usable(img->state);
}

/*
 * The index in out->cat of an image of the older side.  An image whose functions are
 * known on one side only can only be compared as a whole.
 */
static uint32_t place_image(struct compare *c, uint32_t image)
{
	const struct profile_image *was = &c->was->images[image];
	struct profile *p = c->out;
	uint32_t to = pair_image(c, image);

	if (to == UNPAIRED) {
		to = (uint32_t)p->cat->nr_images++;
		p->cat->images[to] = c->was->cat->images[image];
		c->merged[to] = p->cat->images[to].label != NULL;
	}
	if (!p->images[to].used)
		p->images[to] = *was;
	else if (p->loaded && by_symbol(was) != by_symbol(&p->images[to]))
		p->images[to].whole = c->merged[to] = true;
	return to;
}

/* Makes a catalog of the images of both sides, which owns everything in it. */
static int join_images(struct compare *c)
{
	const struct catalog *a = c->now->cat, *b = c->was->cat;
	size_t max = a->nr_images + b->nr_images + 1;
	struct profile *p = c->out;
	struct catalog *cat = malloc(sizeof(*cat));

	if (!cat)
		return no_memory(c);
	cat->refs = 1;
	/* everything behind the count, which other threads change meanwhile */
	memcpy(&cat->generation, &a->generation,
	       sizeof(*cat) - offsetof(struct catalog, generation));
	cat->borrows = true;
	cat->arena = (struct arena){ 0 };
	p->cat = cat;
	cat->images = arena_calloc(&cat->arena, max, sizeof(*cat->images));
	cat->names = NULL; /* nothing is looked up in it */
	p->images = arena_calloc(&p->arena, max, sizeof(*p->images));
	c->now_of = calloc(max, sizeof(*c->now_of));
	c->was_of = calloc(max, sizeof(*c->was_of));
	c->merged = calloc(max, sizeof(*c->merged));
	if (!cat->images || !p->images || !c->now_of || !c->was_of || !c->merged)
		return no_memory(c);
	memcpy(cat->images, a->images, a->nr_images * sizeof(*cat->images));
	memcpy(p->images, c->now->images, a->nr_images * sizeof(*p->images));
	for (uint32_t i = 0; i < a->nr_images; i++) {
		uint32_t first = labelled(c->now, a->images[i].label);

		c->now_of[i] = first == UNPAIRED ? i : first;
		c->merged[i] = a->images[i].label != NULL;
	}
	for (uint32_t i = 0; i < b->nr_images; i++)
		c->was_of[i] = c->was->images[i].used ? place_image(c, i) : 0;
	return 0;
}

/* ---- rows */

struct side { /* a row, and its image in out->cat */
	const struct profile_row *row;
	uint64_t *samples;
	uint32_t app, image;
	bool whole; /* stands for all of its image */
};

struct sides {
	struct side *data;
	size_t nr;
};

static void sides_fini(struct sides *s)
{
	free(s->data);
}

static enum profile_row_kind kind_of(const struct side *s)
{
	return s->whole ? PROFILE_ROW_IMAGE : s->row->kind;
}

/*
 * The row's identity within its image: of rows that are no symbol there is one of each
 * kind.
 */
static const char *own_name(const struct side *s)
{
	return kind_of(s) == PROFILE_ROW_SYMBOL ? s->row->name : "";
}

static int compare_key(const struct side *a, const struct side *b)
{
	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	if (a->app != b->app)
		return a->app < b->app ? -1 : 1;
	if (kind_of(a) != kind_of(b))
		return kind_of(a) < kind_of(b) ? -1 : 1;
	return strcmp(own_name(a), own_name(b));
}

/* Functions of one name (static ones) are paired in order of their addresses. */
static int compare_sides(const void *x, const void *y)
{
	const struct side *a = x, *b = y;
	int order = compare_key(a, b);

	return order ? order : (a->row->vma > b->row->vma) - (a->row->vma < b->row->vma);
}

/* Rows of one key in a merged image become one row. */
static int merge_sides(struct compare *c, struct sides *s)
{
	size_t nr = c->out->nr_classes, n = 0;

	for (size_t i = 0; i < s->nr; i++) {
		struct side *last = n ? &s->data[n - 1] : NULL;

		if (!last || !c->merged[s->data[i].image] ||
		    compare_key(last, &s->data[i]) != 0) {
			s->data[n++] = s->data[i];
			continue;
		}
		if (last->samples == last->row->samples) {
			last->samples =
				arena_calloc(&c->out->arena, nr, sizeof(uint64_t));
			if (!last->samples)
				return no_memory(c);
			memcpy(last->samples, last->row->samples, nr * sizeof(uint64_t));
		}
		for (size_t k = 0; k < nr; k++)
			last->samples[k] += s->data[i].samples[k];
	}
	s->nr = n;
	return 0;
}

static int sides_of(struct compare *c, const struct profile *p, const uint32_t *image_of,
		    struct sides *out)
{
	out->data = calloc(p->nr_rows + 1, sizeof(*out->data));
	if (!out->data)
		return no_memory(c);
	for (size_t i = 0; i < p->nr_rows; i++) {
		const struct profile_row *r = &p->rows[i];

		if (profile_any_sample(r->samples, p->nr_classes))
			out->data[out->nr++] = (struct side){
				.row = r,
				.samples = r->samples,
				.app = image_of[r->app],
				.image = image_of[r->image],
				.whole = c->out->images[image_of[r->image]].whole,
			};
	}
	qsort(out->data, out->nr, sizeof(*out->data), compare_sides);
	return merge_sides(c, out);
}

/* A row that is only on the older side shows its samples there. */
static void add_row(struct profile *p, const struct side *now, const struct side *was)
{
	const struct side *shown = now ? now : was;
	struct profile_row *row = &p->rows[p->nr_rows++];

	*row = *shown->row;
	row->samples = shown->samples;
	row->app = shown->app;
	row->image = shown->image;
	row->was = was ? was->samples : NULL;
	row->gone = !now;
	if (shown->whole) {
		row->kind = PROFILE_ROW_IMAGE;
		row->sym = NULL;
		row->vma = 0;
		row->name = p->cat->images[shown->image].shown;
	}
}

static int join_rows(struct compare *c)
{
	CLEANUP(sides_fini) struct sides now = { 0 }, was = { 0 };
	struct profile *p = c->out;
	size_t i = 0, k = 0;
	int rc = sides_of(c, c->now, c->now_of, &now);

	rc = rc ? rc : sides_of(c, c->was, c->was_of, &was);
	if (rc)
		return rc;
	p->rows = arena_calloc(&p->arena, now.nr + was.nr + 1, sizeof(*p->rows));
	if (!p->rows)
		return no_memory(c);
	while (i < now.nr || k < was.nr) {
		int order = i == now.nr   ? 1
			    : k == was.nr ? -1
					  : compare_key(&now.data[i], &was.data[k]);

		add_row(p, order <= 0 ? &now.data[i] : NULL,
			order >= 0 ? &was.data[k] : NULL);
		i += order <= 0;
		k += order >= 0;
	}
	return 0;
}

/* ---- pairs */

/* The pair in out; it is made if there is none yet. */
static struct profile_pair *need_pair(struct profile *p, uint32_t app, uint32_t image)
{
	struct profile_pair *pair = profile_pair_of(p, app, image);
	uint64_t *samples;

	if (pair)
		return pair;
	samples = arena_calloc(&p->arena, p->nr_classes * 2, sizeof(uint64_t));
	if (!samples)
		return NULL;
	pair = &p->pairs[p->nr_pairs++];
	*pair = (struct profile_pair){ .app = app,
				       .image = image,
				       .samples = samples,
				       .was = samples + p->nr_classes,
				       .gone = true };
	return pair;
}

static int add_pairs(struct compare *c, const struct profile *from,
		     const uint32_t *image_of, bool now)
{
	struct profile *p = c->out;

	for (size_t i = 0; i < from->nr_pairs; i++) {
		const struct profile_pair *f = &from->pairs[i];
		struct profile_pair *pair =
			need_pair(p, image_of[f->app], image_of[f->image]);
		uint64_t *to;

		if (!pair)
			return no_memory(c);
		to = now ? pair->samples : pair->samples + p->nr_classes;
		pair->gone = pair->gone && !now;
		for (size_t k = 0; k < p->nr_classes; k++)
			to[k] += f->samples[k];
	}
	return 0;
}

static int join_pairs(struct compare *c)
{
	struct profile *p = c->out;
	size_t max = c->now->nr_pairs + c->was->nr_pairs + 1;
	int rc;

	p->pairs = arena_calloc(&p->arena, max, sizeof(*p->pairs));
	if (!p->pairs)
		return no_memory(c);
	rc = add_pairs(c, c->now, c->now_of, true);
	rc = rc ? rc : add_pairs(c, c->was, c->was_of, false);
	for (size_t i = 0; i < p->nr_pairs; i++)
		if (p->pairs[i].gone) /* gone: shows what it was */
			memcpy(p->pairs[i].samples, p->pairs[i].was,
			       p->nr_classes * sizeof(uint64_t));
	return rc;
}

/* ---- the whole */

static int join(struct compare *c)
{
	int rc = check_classes(c);

	rc = rc ? rc : copy_classes(c);
	rc = rc ? rc : join_images(c);
	rc = rc ? rc : join_pairs(c);
	if (!rc && c->out->loaded)
		rc = join_rows(c);
	return rc;
}

int profile_compare(struct profile *now, struct profile *was, struct profile **out,
		    struct err *err)
{
	struct compare c = { .now = now, .was = was, .err = err };
	struct profile *p = calloc(1, sizeof(*p));
	int rc;

	c.out = p;
	if (!p)
		return no_memory(&c);
	p->refs = 1;
	p->loaded = now->loaded & was->loaded & PROFILE_SYMBOLS;
	p->axis = now->axis;
	p->parent = profile_get(now);
	p->base = profile_get(was);
	p->until = until_both(now->until, was->until);
	p->selected = now->selected;
	p->nr_selected = now->nr_selected;
	p->session = now->session;
	p->bad = now->bad;
	p->nr_bad = now->nr_bad;
	rc = join(&c);
	free(c.now_of);
	free(c.was_of);
	free(c.merged);
	if (rc) {
		profile_put(p);
		return rc;
	}
	p->bytes = sizeof(*p) + p->arena.total + p->cat->arena.total;
	*out = p;
	return 0;
}

/* ---- how much more */

enum profile_change profile_changed(const uint64_t *samples, const uint64_t *was,
				    bool gone, size_t class)
{
	if (gone || !samples[class])
		return was && was[class] ? PROFILE_GONE : PROFILE_SAME;
	return was && was[class] ? PROFILE_BOTH : PROFILE_NEW;
}

double profile_growth(uint64_t samples, uint64_t total, uint64_t was, uint64_t was_total)
{
	double p1 = percent_of(was, was_total), p2 = percent_of(samples, total);

	return p1 > 0 ? (p2 - p1) / p1 * 100 : 0;
}

/* Standard two-proportion z-test, with the pooled share of both sides. */
bool profile_significant(uint64_t samples, uint64_t total, uint64_t was,
			 uint64_t was_total)
{
	double n1 = (double)was_total, n2 = (double)total, pooled, error, difference;

	if (!total || !was_total)
		return false;
	pooled = ((double)samples + (double)was) / (n1 + n2);
	error = sqrt(pooled * (1 - pooled) * (1 / n1 + 1 / n2));
	difference = (double)samples / n2 - (double)was / n1;
	return fabs(difference) > PROFILE_SIGMAS * error;
}
