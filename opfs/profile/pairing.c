/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/profile/pairing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define UNPAIRED UINT32_MAX

/* What is known of the images of one side. */
struct side {
	const struct profile *p;
	bool *in_use; /* has samples, or is an application that others have samples in */
	uint32_t *pair; /* of each image: that of the other side, or UNPAIRED */
	uint32_t only_app;
	struct map by_path, by_base; /* those in use; several of one base: UNPAIRED */
};

static void side_fini(struct side *s)
{
	free(s->in_use);
	free(s->pair);
	map_fini(&s->by_path);
	map_fini(&s->by_base);
}

static void note_apps(struct side *s)
{
	const struct profile *p = s->p;

	s->only_app = p->nr_pairs ? p->pairs[0].app : UNPAIRED;
	for (size_t i = 0; i < p->nr_pairs; i++) {
		s->in_use[p->pairs[i].app] = true;
		if (p->pairs[i].app != s->only_app)
			s->only_app = UNPAIRED;
	}
}

static int note_names(struct side *s)
{
	const struct catalog *cat = s->p->cat;

	for (uint32_t i = 0; i < cat->nr_images; i++) {
		const struct catalog_image *img = &cat->images[i];
		size_t len = strlen(img->base);
		uint64_t seen;

		if (!s->in_use[i] || img->label)
			continue;
		if (map_set(&s->by_path, img->shown, strlen(img->shown), i) ||
		    map_set(&s->by_base, img->base, len,
			    map_get(&s->by_base, img->base, len, &seen) ? UNPAIRED : i))
			return -ENOMEM;
	}
	return 0;
}

static int side_init(struct side *s, const struct profile *p)
{
	size_t nr = p->cat->nr_images;

	s->p = p;
	s->in_use = calloc(nr + 1, sizeof(*s->in_use));
	s->pair = malloc((nr + 1) * sizeof(*s->pair));
	if (!s->in_use || !s->pair)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		s->in_use[i] = p->images[i].used;
		s->pair[i] = UNPAIRED;
	}
	note_apps(s);
	return note_names(s);
}

/* ---- which is which */

static uint32_t look_up(const struct map *m, const char *name)
{
	uint64_t found;

	return map_get(m, name, strlen(name), &found) ? (uint32_t)found : UNPAIRED;
}

static uint32_t same_path(const struct side *now, const struct side *was, uint32_t i)
{
	return look_up(&now->by_path, was->p->cat->images[i].shown);
}

static uint32_t same_role(const struct side *now, const struct side *was, uint32_t i)
{
	return i == was->only_app ? now->only_app : UNPAIRED;
}

static uint32_t same_base(const struct side *now, const struct side *was, uint32_t i)
{
	const char *base = was->p->cat->images[i].base;

	return look_up(&was->by_base, base) == i ? look_up(&now->by_base, base)
						 : UNPAIRED;
}

/*
 * Two builds of a program lie in two places.  In one session both sides know the paths
 * of all its programs, so only images in use count.
 */
static void pair_sides(struct side *now, struct side *was)
{
	static uint32_t (*const ways[])(const struct side *now, const struct side *was,
					uint32_t i) = { same_path, same_role, same_base };

	for (size_t w = 0; w < sizeof(ways) / sizeof(ways[0]); w++)
		for (uint32_t i = 0; i < was->p->cat->nr_images; i++) {
			uint32_t to;

			if (!was->in_use[i] || was->pair[i] != UNPAIRED ||
			    was->p->cat->images[i].label)
				continue;
			to = ways[w](now, was, i);
			if (to == UNPAIRED || now->pair[to] != UNPAIRED ||
			    now->p->cat->images[to].label)
				continue;
			now->pair[to] = i;
			was->pair[i] = to;
		}
}

/* ---- the images of both */

struct joining {
	struct profile *out;
	struct profile_pairing *to;
	struct map labels, paths; /* of out->cat->images */
};

static void joining_fini(struct joining *j)
{
	map_fini(&j->labels);
	map_fini(&j->paths);
}

static bool by_symbol(const struct profile_image *img)
{
	return img->table && sym_usable(img->state);
}

/* The index in out->cat of anonymous memory: all of one label, which names it if the
 * regions of several processes come together. */
static int place_label(struct joining *j, const struct catalog_image *img, uint32_t *at)
{
	struct catalog *cat = j->out->cat;
	struct catalog_image *made;

	*at = look_up(&j->labels, img->label);
	if (*at == UNPAIRED) {
		*at = (uint32_t)cat->nr_images++;
		cat->images[*at] = *img;
		j->to->merged[*at] = true;
		return map_set(&j->labels, img->label, strlen(img->label), *at);
	}
	made = &cat->images[*at];
	if (!strcmp(made->shown, img->shown) || !strcmp(made->shown, img->label))
		return 0;
	made->shown = arena_strdup(&cat->arena, img->label);
	made->base = made->shown;
	return made->shown ? 0 : -ENOMEM;
}

/* The same of a file; @now_of: NULL for the newer side, whose images come first. */
static int place_file(struct joining *j, const struct side *s, uint32_t i,
		      const uint32_t *now_of, uint32_t *at)
{
	const struct catalog_image *img = &s->p->cat->images[i];
	struct catalog *cat = j->out->cat;

	*at = UNPAIRED;
	if (now_of)
		*at = s->pair[i] == UNPAIRED ? look_up(&j->paths, img->shown)
					     : now_of[s->pair[i]];
	if (*at != UNPAIRED)
		return 0;
	*at = (uint32_t)cat->nr_images++;
	cat->images[*at] = *img;
	return map_set(&j->paths, img->shown, strlen(img->shown), *at);
}

/* An image whose functions are known on one side only is compared as a whole. */
static void add_image(struct joining *j, const struct profile_image *img, uint32_t at)
{
	struct profile *p = j->out;

	if (!p->images[at].used)
		p->images[at] = *img;
	else if (img->used && profile_has_symbols(p->loaded) &&
		 by_symbol(img) != by_symbol(&p->images[at]))
		p->images[at].whole = j->to->merged[at] = true;
}

static int place_side(struct joining *j, const struct side *s, uint32_t *of,
		      const uint32_t *now_of)
{
	for (uint32_t i = 0; i < s->p->cat->nr_images; i++) {
		const struct catalog_image *img = &s->p->cat->images[i];

		if (img->label ? place_label(j, img, &of[i])
			       : place_file(j, s, i, now_of, &of[i]))
			return -ENOMEM;
		add_image(j, &s->p->images[i], of[i]);
	}
	return 0;
}

int profile_pair_images(const struct profile *now, const struct profile *was,
			struct profile *out, struct profile_pairing *to)
{
	size_t max = now->cat->nr_images + was->cat->nr_images + 1;
	CLEANUP(side_fini) struct side a = { 0 }, b = { 0 };
	CLEANUP(joining_fini) struct joining j = { .out = out, .to = to };

	to->now_of = calloc(max, sizeof(*to->now_of));
	to->was_of = calloc(max, sizeof(*to->was_of));
	to->merged = calloc(max, sizeof(*to->merged));
	out->cat = catalog_borrow(now->cat, max);
	out->images = arena_calloc(&out->arena, max, sizeof(*out->images));
	if (!to->now_of || !to->was_of || !to->merged || !out->cat || !out->images ||
	    side_init(&a, now) || side_init(&b, was))
		return -ENOMEM;
	pair_sides(&a, &b);
	if (place_side(&j, &a, to->now_of, NULL) ||
	    place_side(&j, &b, to->was_of, to->now_of))
		return -ENOMEM;
	return 0;
}

void profile_pairing_fini(struct profile_pairing *p)
{
	free(p->now_of);
	free(p->was_of);
	free(p->merged);
}
