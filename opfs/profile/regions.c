/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/profile/regions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "libsym/wire/build.h"
#include "libsym/wire/wire.h"
#include "opfs/profile/stacks.h"

/* Offsets in an image; one more bit says something else in stacks. */
#define OFFSETS (UINT64_MAX >> 2)

struct group {          /* regions that become one image */
	uint32_t image; /* the first of them, which stands for all */
	size_t nr;
	uint64_t size; /* of those with code that has names */
	size_t nr_syms;
};

struct joining {
	struct profile_build *b;
	uint32_t *to;   /* of each image the one that it is a part of */
	uint64_t *base; /* and where it begins in that */
	struct map known;
	VEC(struct group) groups;
};

static void joining_fini(struct joining *j)
{
	free(j->to);
	free(j->base);
	map_fini(&j->known);
	vec_fini(&j->groups);
}

/* ---- which are one */

static const char *called(const struct profile_build *b, uint32_t image)
{
	const struct catalog_image *img = &b->p->cat->images[image];

	return b->p->images[image].jit ? img->shown : img->label;
}

static struct group *group_of(struct joining *j, uint32_t image)
{
	const struct spec_image_row *row = j->b->p->cat->images[image].row;
	const char *name = called(j->b, image);
	CLEANUP(strbuf_fini) struct strbuf key = { 0 };
	uint64_t at = j->groups.len;

	strbuf_puts(&key, name);
	strbuf_putc(&key, '\0');
	if (row)
		strbuf_add(&key, row->build_id.bytes, row->build_id.len);
	if (strbuf_error(&key))
		return NULL;
	if (!map_get(&j->known, key.data, key.len, &at) &&
	    (map_set(&j->known, key.data, key.len, at) ||
	     vec_push(&j->groups, (struct group){ 0 })))
		return NULL;
	return &j->groups.data[at];
}

/* Has the image room for the names of one more region? */
static bool has_room(const struct group *g, uint64_t size, const struct sym_table *t)
{
	return size && size < OFFSETS - g->size && t->nr_syms < SYM_MAX_SYMS - g->nr_syms;
}

static int join_image(struct joining *j, uint32_t image)
{
	const struct spec_image *name = &j->b->p->cat->images[image].name;
	const struct profile_image *img = &j->b->p->images[image];
	uint64_t size = name->end - name->start + 1;
	struct group *g = group_of(j, image);

	if (!g)
		return -ENOMEM;
	if (img->jit && !has_room(g, size, img->table))
		return 0;
	if (img->jit) {
		j->base[image] = g->size;
		g->size += size;
		g->nr_syms += img->table->nr_syms;
	}
	if (!g->nr++)
		g->image = image;
	j->to[image] = g->image;
	return 0;
}

static int join_images(struct joining *j)
{
	const struct profile *p = j->b->p;
	size_t nr = p->cat->nr_images;
	int rc = 0;

	j->to = calloc(nr + 1, sizeof(*j->to));
	j->base = calloc(nr + 1, sizeof(*j->base));
	if (!j->to || !j->base)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr && !rc; i++) {
		j->to[i] = i;
		if (p->images[i].used && p->cat->images[i].label)
			rc = join_image(j, i);
	}
	return rc;
}

/* ---- one table for code that was made at run time */

static int finish_table(struct sym_build *build, struct sym_table **out)
{
	CLEANUP(strbuf_fini) struct strbuf wire = { 0 };
	int rc = sym_build_finish(build);

	rc = rc ? rc : sym_wire_encode(build, &wire);
	return rc ? rc : sym_wire_decode(wire.data, wire.len, out, NULL);
}

static void add_region(struct sym_build *build, const struct sym_table *t, uint64_t base,
		       const struct spec_image *name)
{
	uint64_t size = name->end - name->start + 1;

	sym_build_section(build, base, size, name->start);
	for (size_t i = 0; i < t->nr_syms; i++)
		sym_build_add(build, &(struct sym_cand){ .off = base + t->syms[i].off,
							 .size = t->syms[i].size,
							 .vma = t->syms[i].vma,
							 .limit = base + size,
							 .name = sym_name(&t->syms[i]),
							 .flags = t->syms[i].flags });
}

static int join_tables(struct joining *j, const struct group *g)
{
	CLEANUP(sym_build_fini)
	struct sym_build build = { .state = SYM_OK, .source = SYM_FROM_JIT };
	struct profile *p = j->b->p;
	struct profile_image *to = &p->images[g->image];
	struct profile_region *regions;
	struct sym_table *table = NULL;

	regions = arena_calloc(&p->arena, g->nr, sizeof(*regions));
	if (!regions)
		return -ENOMEM;
	for (uint32_t i = g->image; i < p->cat->nr_images; i++) {
		if (j->to[i] != g->image || !p->images[i].jit)
			continue;
		add_region(&build, p->images[i].table, j->base[i],
			   &p->cat->images[i].name);
		regions[to->nr_regions++] =
			(struct profile_region){ .base = j->base[i],
						 .name = &p->cat->images[i].name };
	}
	to->regions = regions;
	if (finish_table(&build, &table))
		return -ENOMEM;
	sym_table_put(to->table);
	to->table = table;
	return 0;
}

const struct spec_image *profile_region_at(const struct profile *p, uint32_t image,
					   uint64_t *off)
{
	const struct profile_image *img = &p->images[image];
	size_t lo = 0, hi = img->nr_regions;

	if (!hi)
		return NULL;
	while (hi - lo > 1) { /* the last that begins at it or before */
		size_t mid = lo + (hi - lo) / 2;

		if (img->regions[mid].base <= *off)
			lo = mid;
		else
			hi = mid;
	}
	*off -= img->regions[lo].base;
	return img->regions[lo].name;
}

/* ---- whatever names an image */

static int show_label(struct joining *j, const struct group *g)
{
	struct catalog *cat = j->b->p->cat;
	struct catalog_image *img = &cat->images[g->image];

	img->shown = arena_strdup(&cat->arena, called(j->b, g->image));
	img->base = img->shown;
	return img->shown ? 0 : -ENOMEM;
}

/* The catalog's files are borrowed. */
static int move_files(struct joining *j)
{
	struct catalog *cat = j->b->p->cat;
	const struct catalog_file *from = cat->files;
	struct profile_stacks *s = j->b->stacks;
	struct catalog_file *to =
		(void *)arena_memdup(&cat->arena, from, cat->nr_files * sizeof(*from));

	if (!to)
		return -ENOMEM;
	cat->files = to;
	for (size_t i = 0; i < cat->nr_files; i++) {
		to[i].app = j->to[to[i].app];
		to[i].image = j->to[to[i].image];
	}
	for (size_t i = 0; i < j->b->nr_picks; i++) {
		struct profile_pick *pick = &j->b->picks[i];

		pick->base = j->base[pick->file->image];
		pick->app = j->to[pick->app];
		pick->file = to + (pick->file - from);
	}
	for (size_t i = 0; i < j->b->p->nr_arc_files; i++) {
		struct profile_arc_file *f = &j->b->arc_files[i];

		f->file = to + (f->file - from);
		f->caller_base = j->base[f->caller];
		f->callee_base = j->base[f->callee];
		f->caller = j->to[f->caller];
		f->callee = j->to[f->callee];
	}
	for (size_t i = 0; s && i < s->nr_files; i++) {
		s->files[i].file = to + (s->files[i].file - from);
		s->files[i].app = j->to[s->files[i].app];
	}
	return 0;
}

static void move_frames(struct joining *j)
{
	struct profile_stacks *s = j->b->stacks;

	for (size_t i = 0; s && i < s->nr_frames; i++) {
		struct profile_frame *f = &s->frames[i];

		if (f->image == CATALOG_NO_IMAGE)
			continue;
		f->off += j->base[f->image];
		f->image = j->to[f->image];
	}
}

static int join(struct joining *j)
{
	struct profile *p = j->b->p;
	bool any = false;
	int rc = join_images(j);

	vec_for(&j->groups, g) {
		if (rc || g->nr < 2)
			continue;
		any = true;
		rc = p->images[g->image].jit ? join_tables(j, g) : 0;
		rc = rc ? rc : show_label(j, g);
	}
	if (rc || !any)
		return rc;
	for (uint32_t i = 0; i < p->cat->nr_images; i++)
		if (j->to[i] != i)
			p->images[i].used = false;
	move_frames(j);
	return move_files(j);
}

int profile_join_regions(struct profile_build *b)
{
	CLEANUP(joining_fini) struct joining j = { .b = b };

	/* else there is no memory without a file */
	if (b->q->regions || b->p->cat == b->q->cat)
		return 0;
	return join(&j) ? profile_no_memory(b) : 0;
}
