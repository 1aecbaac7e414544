/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/elf/wants.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "libsym/wire/build.h"

void sym_wants_fini(struct sym_wants *w)
{
	free(w->list);
	*w = (struct sym_wants){ 0 };
}

static int by_vma(const void *pa, const void *pb)
{
	const struct sym_want *a = pa, *b = pb;

	return a->vma < b->vma ? -1 : a->vma > b->vma;
}

struct maker {
	const struct sym_section *sections;
	size_t nr_sections;
	bool offsets_are_addresses;
	struct sym_wants *w;
	size_t cap;
};

static int add(struct maker *m, const struct sym_section *s, uint64_t off, uint64_t end)
{
	struct sym_want want = { .off = off };

	if (vec_reserve_((void **)&m->w->list, &m->cap, m->w->nr, 1, sizeof(want)))
		return -ENOMEM;
	want.vma = m->offsets_are_addresses ? off : s->vma + (off - s->off);
	want.end = want.vma + (end - off);
	if (want.end > want.vma)
		m->w->list[m->w->nr++] = want;
	return 0;
}

/* Both are by off and disjoint. */
static int intersect(struct maker *m, const struct sym_range *r, size_t nr)
{
	size_t s = 0;

	for (size_t i = 0; i < nr; i++) {
		while (s < m->nr_sections &&
		       m->sections[s].off + m->sections[s].size <= r[i].off)
			s++;
		for (size_t j = s; j < m->nr_sections && m->sections[j].off < r[i].end;
		     j++) {
			const struct sym_section *at = &m->sections[j];
			uint64_t off = r[i].off > at->off ? r[i].off : at->off;
			uint64_t end = at->off + at->size;

			if (add(m, at, off, r[i].end < end ? r[i].end : end))
				return -ENOMEM;
		}
	}
	return 0;
}

/* Sorts by address; of two offsets with one address the first counts. */
static void order(struct sym_wants *w)
{
	bool sorted = true;
	size_t kept = 0;

	for (size_t i = 1; i < w->nr && sorted; i++)
		sorted = w->list[i - 1].vma <= w->list[i].vma;
	if (!sorted)
		qsort(w->list, w->nr, sizeof(*w->list), by_vma);
	for (size_t i = 0; i < w->nr; i++)
		if (!kept || w->list[i].vma >= w->list[kept - 1].end)
			w->list[kept++] = w->list[i];
	w->nr = kept;
}

int sym_wants_make(const struct sym_elf *image, const struct sym_range *ranges, size_t nr,
		   struct sym_wants *out)
{
	CLEANUP(sym_build_fini) struct sym_build b = { 0 };
	CLEANUP(free_ptr) struct sym_range *r = NULL;
	CLEANUP(sym_wants_fini) struct sym_wants w = { 0 };
	struct maker m = { .offsets_are_addresses = image->type == ET_REL, .w = &w };

	r = malloc((nr + 1) * sizeof(*r));
	sym_elf_add_sections(image, &b);
	if (!r || sym_build_finish(&b))
		return -ENOMEM;
	if (nr)
		memcpy(r, ranges, nr * sizeof(*r));
	m.sections = b.sections.data;
	m.nr_sections = b.sections.len;
	if (intersect(&m, r, sym_ranges_join(r, nr)))
		return -ENOMEM;
	order(&w);
	*out = TAKE(w);
	return 0;
}

/* Steps double first, since the next range asked for is usually near. */
size_t sym_wants_from(const struct sym_wants *w, size_t from, uint64_t vma)
{
	size_t lo = from, step = 1, hi;

	while (lo + step < w->nr && w->list[lo + step].end <= vma) {
		lo += step;
		step *= 2;
	}
	hi = lo + step < w->nr ? lo + step : w->nr;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (w->list[mid].end <= vma)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

bool sym_wants_any(const struct sym_wants *w, uint64_t lo, uint64_t hi)
{
	size_t i = sym_wants_from(w, 0, lo);

	return i < w->nr && w->list[i].vma < hi;
}
