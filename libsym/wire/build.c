/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/wire/build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

void sym_build_fini(struct sym_build *b)
{
	strbuf_fini(&b->reason);
	strbuf_fini(&b->path);
	strbuf_fini(&b->debug_path);
	vec_fini(&b->cands);
	vec_fini(&b->sections);
	vec_fini(&b->entries);
	vec_fini(&b->syms);
	arena_fini(&b->arena);
}

void sym_build_add(struct sym_build *b, const struct sym_cand *c)
{
	if (c->off >= c->limit || b->cands.len >= SYM_MAX_SYMS)
		return;
	if (vec_push(&b->cands, *c))
		b->failed = true;
}

static void add_section(struct sym_build *b, struct sym_sections *to,
			const struct sym_section *s)
{
	if (s->size && s->off + s->size > s->off && vec_push(to, *s))
		b->failed = true;
}

void sym_build_section(struct sym_build *b, uint64_t off, uint64_t size, uint64_t vma)
{
	add_section(b, &b->sections, &(struct sym_section){ off, size, vma });
}

void sym_build_entry(struct sym_build *b, uint64_t off, uint64_t size, uint64_t vma)
{
	if (b->entries.len < SYM_MAX_ENTRIES)
		add_section(b, &b->entries, &(struct sym_section){ off, size, vma });
}

void sym_build_state(struct sym_build *b, enum sym_state state, const char *fmt, ...)
{
	va_list ap;

	b->state = state;
	strbuf_reset(&b->reason);
	va_start(ap, fmt);
	strbuf_vprintf(&b->reason, fmt, ap);
	va_end(ap);
}

struct key { /* sorted instead of the candidates: a third of their size */
	uint64_t off;
	uint32_t at;
};

static int compare_keys(const void *pa, const void *pb)
{
	const struct key *a = pa, *b = pb;

	if (a->off != b->off)
		return a->off < b->off ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

static bool is_sorted(const struct key *keys, size_t nr)
{
	for (size_t i = 1; i < nr; i++)
		if (keys[i].off < keys[i - 1].off)
			return false;
	return true;
}

static int compare_sections(const void *pa, const void *pb)
{
	const struct sym_section *a = pa, *b = pb;

	if (a->off != b->off)
		return a->off < b->off ? -1 : 1;
	return a->size > b->size ? -1 : a->size < b->size;
}

/* Of aliases the one with the lowest rank is shown, among equals the first. */
static unsigned rank(const struct sym_cand *c)
{
	return (c->flags & SYM_PLT ? 16 : 0) | (strncmp(c->name, "??", 2) ? 0 : 8) |
	       (c->flags & SYM_GLOBAL ? 0 : 4) | (c->name[0] == '_' ? 2 : 0) |
	       (c->flags & SYM_WEAK ? 1 : 0);
}

/* The candidate to show among @nr of the same offset; NULL if all only end others. */
static const struct sym_cand *choose(const struct sym_build *b, const struct key *k,
				     size_t nr)
{
	const struct sym_cand *best = NULL;

	for (size_t i = 0; i < nr; i++) {
		const struct sym_cand *c = &b->cands.data[k[i].at];

		if (c->name && (!best || rank(c) < rank(best)))
			best = c;
	}
	return best;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The size of a chosen alias, or of the largest other one if it has none. */
static uint64_t stated_size(const struct sym_build *b, const struct key *k, size_t nr,
			    const struct sym_cand *best)
{
	uint64_t size = best->size;

	for (size_t i = 0; i < nr && !best->size; i++)
		if (b->cands.data[k[i].at].size > size)
			size = b->cands.data[k[i].at].size;
	return size;
}

/* @cover: where the last sized symbol that reaches furthest ends. */
static void add_chosen(struct sym_build *b, const struct sym_cand *c, uint64_t size,
		       uint64_t next, uint64_t *cover)
{
	struct sym_chosen s = {
		.off = c->off, .vma = c->vma, .name = c->name, .flags = c->flags
	};
	uint64_t end;

	if (size) {
		end = size < c->limit - c->off ? c->off + size : c->limit;
		if (end > *cover)
			*cover = end;
	} else {
		s.flags |= SYM_NOSIZE;
		end = least(next, c->limit);
		if (*cover > c->off)
			end = least(end, *cover);
	}
	s.size = end - c->off;
	if (s.size && vec_push(&b->syms, s))
		b->failed = true;
}

static void choose_all(struct sym_build *b, const struct key *keys)
{
	uint64_t cover = 0;
	size_t nr = b->cands.len, i = 0;

	while (i < nr) {
		const struct sym_cand *best;
		size_t j = i;

		while (j < nr && keys[j].off == keys[i].off)
			j++;
		best = choose(b, keys + i, j - i);
		if (best)
			add_chosen(b, best, stated_size(b, keys + i, j - i, best),
				   j < nr ? keys[j].off : UINT64_MAX, &cover);
		i = j;
	}
}

/* Sorted and disjoint: an earlier section keeps the bytes that a later one overlaps. */
static void cut_sections(struct sym_sections *all)
{
	uint64_t end = 0;
	size_t kept = 0;

	if (!all->len)
		return;
	qsort(all->data, all->len, sizeof(*all->data), compare_sections);
	vec_for(all, s) {
		uint64_t skip = s->off < end ? least(end - s->off, s->size) : 0;

		if (skip == s->size)
			continue;
		end = s->off + s->size;
		all->data[kept++] = (struct sym_section){ .off = s->off + skip,
							  .size = s->size - skip,
							  .vma = s->vma + skip };
	}
	all->len = kept;
}

/* Names made up for PLT entries do not count as names of a program's own code. */
static bool has_names(const struct sym_build *b)
{
	for (size_t i = 0; i < b->syms.len; i++)
		if (!(b->syms.data[i].flags & SYM_PLT))
			return true;
	return false;
}

int sym_build_finish(struct sym_build *b)
{
	CLEANUP(free_ptr) struct key *keys = NULL;

	cut_sections(&b->sections);
	cut_sections(&b->entries);
	b->syms.len = 0;
	if (b->cands.len) {
		keys = malloc(b->cands.len * sizeof(*keys));
		if (!keys)
			return -ENOMEM;
		for (size_t i = 0; i < b->cands.len; i++)
			keys[i] = (struct key){ b->cands.data[i].off, (uint32_t)i };
		if (!is_sorted(keys, b->cands.len)) /* those of a kernel are */
			qsort(keys, b->cands.len, sizeof(*keys), compare_keys);
		choose_all(b, keys);
	}
	if (!has_names(b) && sym_usable(b->state))
		sym_build_state(
			b, SYM_NO_SYMBOLS, "%s: no symbols for code%s",
			strbuf_str(&b->path),
			b->source == SYM_FROM_KALLSYMS
				? ""
				: ": stripped, and no separate debug file was found");
	return b->failed || strbuf_error(&b->reason) || strbuf_error(&b->path) ||
			       strbuf_error(&b->debug_path)
		       ? -ENOMEM
		       : 0;
}
