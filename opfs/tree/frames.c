/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/tree/frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "libspec/name/glob.h"
#include "opfs/profile/stacks.h"

bool tree_has_frames(const struct spec *spec)
{
	for (size_t i = 0; i < SPEC_NR_TAGS; i++)
		if (spec->values[i] && spec_tags[i].kind == SPEC_TAG_FRAMES)
			return true;
	return false;
}

void tree_frames_key(const struct spec *spec, struct strbuf *key)
{
	for (size_t i = 0; i < SPEC_NR_TAGS; i++)
		if (spec->values[i] && spec_tags[i].kind == SPEC_TAG_FRAMES)
			strbuf_printf(key, "%zu:%zu:%s\n", i,
				      strlen(spec->values[i]->raw), spec->values[i]->raw);
}

/* ---- functions by name */

struct choice {
	const struct profile_stacks *s;
	const struct profile_stacks *names; /* NULL: the same */
	const struct spec_value *v;
	uint8_t **known; /* [component][func]: YES, NO, or 0 if it was not asked for yet;
			  * NULL: none was */
	bool failed;     /* for want of memory */
};

enum { YES = 1, NO };

static bool matches(const struct spec_frame *f, const char *name)
{
	if (!name)
		return false;
	if (!strcmp(f->text, name))
		return true;
	for (size_t i = 0; i < f->items.nr; i++) {
		const struct spec_item *item = &f->items.items[i];

		if (item->all || !strcmp(item->text, name) ||
		    (item->glob && spec_glob(item->pattern, name)))
			return true;
	}
	return false;
}

static bool reads_as(const struct spec_frame *f, const char *name)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	if (!name || !spec_listed_cut(f->raw))
		return false;
	spec_listed(name, false, name, &text);
	return !strcmp(strbuf_str(&text), f->raw);
}

/* Is a function one that a component means? */
static bool means(const struct choice *c, size_t component, uint32_t func)
{
	const struct spec_frame *f = &c->v->frames[component];
	const struct profile_func *is = &c->s->funcs[func];

	return matches(f, is->name) || matches(f, is->sym ? sym_name(is->sym) : NULL) ||
	       matches(f, is->in_rows) ||
	       (c->names && matches(f, c->names->funcs[func].name)) ||
	       reads_as(f, is->name) || reads_as(f, is->in_rows);
}

/* Asked of few functions at most depths, and often of the same. */
static bool is_named(struct choice *c, size_t component, uint32_t frame)
{
	uint32_t func = c->s->frames[frame].func;
	uint8_t **known = &c->known[component];

	if (!*known)
		*known = calloc(c->s->nr_funcs + 1, 1);
	if (!*known) {
		c->failed = true;
		return false;
	}
	if (!(*known)[func])
		(*known)[func] = means(c, component, func) ? YES : NO;
	return (*known)[func] == YES;
}

/* ---- stacks */

enum { FAILED = UINT32_MAX };

/* How many components the frames from the outermost to this one make up. */
static uint32_t go_on(struct choice *c, uint32_t so_far, uint32_t frame)
{
	if (so_far == FAILED || so_far == c->v->nr_frames)
		return so_far;
	return is_named(c, so_far, frame) ? so_far + 1 : FAILED;
}

/* @anywhere: the first function may come later; where it comes first counts. */
static int choose_inwards(struct choice *c, bool anywhere, uint8_t *keep, uint8_t *skips)
{
	const struct profile_frame *frames = c->s->frames;
	CLEANUP(free_ptr) uint32_t *so_far = calloc(c->s->nr_frames + 1, sizeof(*so_far));

	if (!so_far)
		return -ENOMEM;
	for (uint32_t i = 1; i < c->s->nr_frames; i++) {
		so_far[i] = go_on(c, so_far[frames[i].parent], i);
		if (anywhere && so_far[i] == FAILED && !so_far[frames[i].parent])
			so_far[i] = 0;
		if (skips)
			skips[i] = so_far[frames[i].parent] != c->v->nr_frames;
	}
	for (size_t i = 0; i < c->s->nr_stacks; i++)
		keep[i] &= so_far[c->s->stacks[i].frame] == c->v->nr_frames;
	return 0;
}

static void choose_outwards(struct choice *c, uint8_t *keep)
{
	for (size_t i = 0; i < c->s->nr_stacks; i++) {
		uint32_t frame = c->s->stacks[i].frame;

		for (size_t k = 0; k < c->v->nr_frames && keep[i]; k++) {
			keep[i] = frame && is_named(c, k, frame);
			frame = c->s->frames[frame].parent;
		}
	}
}

static int choose(const struct spec_tag *tag, const struct spec_value *v,
		  const struct profile *p, const struct profile *names, uint8_t *keep,
		  uint8_t *skips)
{
	struct choice c = { .s = p->stacks, .v = v };
	int rc = 0;

	/* the same functions, unless a binary has just been replaced */
	if (names != p && names->stacks && names->stacks->nr_funcs == p->stacks->nr_funcs)
		c.names = names->stacks;
	c.known = calloc(v->nr_frames + 1, sizeof(*c.known));
	if (!c.known)
		return -ENOMEM;
	if (tag->id == SPEC_CALLERS)
		choose_outwards(&c, keep);
	else
		rc = choose_inwards(&c, tag->id == SPEC_THROUGH, keep, skips);
	for (size_t k = 0; k < v->nr_frames; k++)
		free(c.known[k]);
	free(c.known);
	return c.failed ? -ENOMEM : rc;
}

int tree_frames_choose(const struct spec *spec, const struct profile *p,
		       const struct profile *names, uint8_t *keep, uint64_t *samples)
{
	int rc = 0;

	memset(keep, 1, p->stacks->nr_stacks);
	for (size_t i = 0; i < SPEC_NR_TAGS && !rc; i++)
		if (spec->values[i] && spec_tags[i].kind == SPEC_TAG_FRAMES)
			rc = choose(&spec_tags[i], spec->values[i], p, names, keep, NULL);
	*samples = 0;
	for (size_t i = 0; i < p->stacks->nr_stacks; i++)
		*samples += keep[i] ? p->stacks->stacks[i].samples : 0;
	return rc;
}

int tree_frames_after(const struct spec_tag *tag, const struct spec_value *v,
		      const struct profile *p, const struct profile *names, uint8_t *keep,
		      uint8_t *skips)
{
	memset(keep, 1, p->stacks->nr_stacks);
	return choose(tag, v, p, names, keep, skips);
}
