/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/who/maps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_BITS = 12 };

struct coll_space *coll_space_new(void)
{
	struct coll_space *s = calloc(1, sizeof(*s));

	if (s)
		s->refs = 1;
	return s;
}

struct coll_space *coll_space_get(struct coll_space *s)
{
	if (s)
		s->refs++;
	return s;
}

void coll_space_put(struct coll_space *s)
{
	if (!s || --s->refs)
		return;
	free(s->maps);
	free(s);
}

/* Room for @more mappings. */
static int grow(struct coll_space *s, size_t more)
{
	size_t cap = s->cap ? s->cap : 16;
	struct coll_map *maps;

	if (s->nr + more <= s->cap)
		return 0;
	while (cap < s->nr + more)
		cap *= 2;
	maps = reallocarray(s->maps, cap, sizeof(*maps));
	if (!maps)
		return -ENOMEM;
	s->maps = maps;
	s->cap = cap;
	return 0;
}

static struct coll_space *copy(const struct coll_space *s)
{
	struct coll_space *c = coll_space_new();

	if (!c || grow(c, s->nr + 2)) {
		coll_space_put(c);
		return NULL;
	}
	if (s->nr)
		memcpy(c->maps, s->maps, s->nr * sizeof(*s->maps));
	c->nr = s->nr;
	return c;
}

/* The index of the first mapping that ends behind @addr. */
static size_t first_behind(const struct coll_space *s, uint64_t addr)
{
	size_t lo = 0, hi = s->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->maps[mid].end > addr)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

static void cut_front(struct coll_map *m, uint64_t start)
{
	m->file_off += start - m->start;
	m->start = start;
	m->anon = NULL;
}

static void cut_back(struct coll_map *m, uint64_t end)
{
	m->end = end;
	m->anon = NULL;
}

/* Replaces maps[at..at+gone) by @n others; there is room. */
static void splice(struct coll_space *s, size_t at, size_t gone,
		   const struct coll_map *by, size_t n)
{
	memmove(s->maps + at + n, s->maps + at + gone,
		(s->nr - at - gone) * sizeof(*s->maps));
	memcpy(s->maps + at, by, n * sizeof(*by));
	s->nr = s->nr - gone + n;
}

int coll_space_add(struct coll_space **sp, const struct coll_map *map)
{
	struct coll_map by[3];
	struct coll_space *s = *sp;
	size_t at, gone, n = 0;

	if (s->refs > 1) {
		s = copy(s);
		if (!s)
			return -ENOMEM;
		coll_space_put(*sp);
		*sp = s;
	}
	if (grow(s, 2))
		return -ENOMEM;
	at = first_behind(s, map->start);
	for (gone = 0; at + gone < s->nr && s->maps[at + gone].start < map->end; gone++)
		;
	if (gone && s->maps[at].start < map->start) {
		by[n] = s->maps[at];
		cut_back(&by[n++], map->start);
	}
	by[n++] = *map;
	if (gone && s->maps[at + gone - 1].end > map->end) {
		by[n] = s->maps[at + gone - 1];
		cut_front(&by[n++], map->end);
	}
	splice(s, at, gone, by, n);
	return 0;
}

struct coll_map *coll_space_find(struct coll_space *s, uint64_t addr)
{
	uint32_t *last = &s->last[(addr >> PAGE_BITS) % COLL_SPACE_LASTS];
	size_t at = *last;

	if (at < s->nr && addr >= s->maps[at].start && addr < s->maps[at].end)
		return &s->maps[at];
	at = first_behind(s, addr);
	if (at == s->nr || addr < s->maps[at].start)
		return NULL;
	*last = (uint32_t)at;
	return &s->maps[at];
}
