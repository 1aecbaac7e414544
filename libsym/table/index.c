/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/table/index.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/vec.h"

struct range { /* to the next one's start; the last one has none and covers nothing */
	uint64_t start;
	uint32_t who;
};

struct ranges {
	struct range *data;
	size_t len, cap;
};

struct sym_index {
	uint64_t base;  /* start of the first range */
	unsigned shift; /* a bucket is 2^shift wide */
	size_t nr_ranges, nr_buckets;
	struct range *ranges;
	uint32_t *first; /* of each bucket, and one behind: the range at its start */
};

struct open_sym { /* a symbol that the sweep is inside of */
	uint64_t end;
	uint32_t who;
};

struct sweep {
	struct ranges out;
	VEC(struct open_sym) open; /* the innermost last */
};

static void sweep_fini(struct sweep *s)
{
	vec_fini(&s->out);
	vec_fini(&s->open);
}

static void sym_index_freep(struct sym_index **x)
{
	sym_index_free(*x);
}

static int emit(struct sweep *s, uint64_t start, uint32_t who)
{
	struct ranges *out = &s->out;

	if (out->data && out->len && out->data[out->len - 1].start == start) {
		out->data[out->len - 1].who = who;
		return 0;
	}
	return vec_push(out, ((struct range){ start, who }));
}

/* Closes the symbols that end at or before @pos. */
static int close_until(struct sweep *s, uint64_t pos)
{
	while (s->open.len && s->open.data[s->open.len - 1].end <= pos) {
		uint64_t at = s->open.data[s->open.len - 1].end;
		uint32_t outer = SYM_INDEX_NONE;

		while (s->open.len && s->open.data[s->open.len - 1].end <= at)
			s->open.len--;
		if (s->open.len)
			outer = s->open.data[s->open.len - 1].who;
		if (emit(s, at, outer))
			return -ENOMEM;
	}
	return 0;
}

static int sweep_all(struct sweep *s, const struct sym *syms, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct open_sym o = { .end = syms[i].off + syms[i].size,
				      .who = (uint32_t)i };

		if (close_until(s, syms[i].off))
			return -ENOMEM;
		if (o.end > syms[i].off &&
		    (emit(s, syms[i].off, o.who) || vec_push(&s->open, o)))
			return -ENOMEM;
	}
	return close_until(s, UINT64_MAX);
}

/* Buckets of a width that gives about one range each, if they are spread evenly. */
static int make_buckets(struct sym_index *x)
{
	uint64_t span = x->ranges[x->nr_ranges - 1].start - x->base;
	size_t at = 0;

	while (span >> x->shift >= 2 * x->nr_ranges + 16)
		x->shift++;
	x->nr_buckets = (size_t)(span >> x->shift) + 1;
	x->first = malloc((x->nr_buckets + 1) * sizeof(*x->first));
	if (!x->first)
		return -ENOMEM;
	for (size_t b = 0; b <= x->nr_buckets; b++) {
		uint64_t start = b == x->nr_buckets ? span : (uint64_t)b << x->shift;

		while (at + 1 < x->nr_ranges &&
		       x->ranges[at + 1].start - x->base <= start)
			at++;
		x->first[b] = (uint32_t)at;
	}
	return 0;
}

struct sym_index *sym_index_new(const struct sym *syms, size_t nr)
{
	CLEANUP(sym_index_freep) struct sym_index *x = calloc(1, sizeof(*x));
	CLEANUP(sweep_fini) struct sweep s = { 0 };

	if (!x || sweep_all(&s, syms, nr))
		return NULL;
	x->nr_ranges = s.out.len;
	x->ranges = TAKE(s.out.data);
	if (!x->nr_ranges)
		return TAKE(x);
	x->base = x->ranges[0].start;
	return make_buckets(x) ? NULL : TAKE(x);
}

void sym_index_free(struct sym_index *x)
{
	if (!x)
		return;
	free(x->ranges);
	free(x->first);
	free(x);
}

size_t sym_index_bytes(const struct sym_index *x)
{
	return sizeof(*x) + x->nr_ranges * sizeof(*x->ranges) +
	       (x->nr_ranges ? x->nr_buckets + 1 : 0) * sizeof(*x->first);
}

uint32_t sym_index_find(const struct sym_index *x, uint64_t off)
{
	uint64_t bucket;
	size_t lo, hi;

	if (!x || !x->nr_ranges || off < x->base)
		return SYM_INDEX_NONE;
	bucket = (off - x->base) >> x->shift;
	if (bucket >= x->nr_buckets)
		return SYM_INDEX_NONE; /* behind the start of the last range: the end */
	lo = x->first[bucket];
	hi = x->first[bucket + 1];
	while (lo < hi) { /* the last range that starts at or before off */
		size_t mid = lo + (hi - lo + 1) / 2;

		if (x->ranges[mid].start <= off)
			lo = mid;
		else
			hi = mid - 1;
	}
	return x->ranges[lo].who;
}
