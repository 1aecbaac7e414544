/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/table/index.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/vec.h"

struct range { /* to the next one's start; the last one has none and covers nothing */
	uint64_t start;
	uint32_t who, zero;
};

struct ranges {
	struct range *data;
	size_t len, cap;
};

/* Behind it, in one block: its ranges, and of each bucket, and one behind, the number of
 * the range at its start. */
struct sym_index {
	uint64_t base; /* start of the first range */
	uint64_t nr_ranges, nr_buckets;
	uint32_t shift, zero; /* a bucket is 2^shift wide */
};

static const struct range *ranges_of(const struct sym_index *x)
{
	return (const struct range *)(x + 1);
}

static const uint32_t *first_of(const struct sym_index *x)
{
	return (const uint32_t *)(ranges_of(x) + x->nr_ranges);
}

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

static int emit(struct sweep *s, uint64_t start, uint32_t who)
{
	struct ranges *out = &s->out;

	if (out->data && out->len && out->data[out->len - 1].start == start) {
		out->data[out->len - 1].who = who;
		return 0;
	}
	return vec_push(out, ((struct range){ .start = start, .who = who }));
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
static void choose_buckets(struct sym_index *x, const struct range *ranges)
{
	uint64_t span = ranges[x->nr_ranges - 1].start - x->base;

	while (span >> x->shift >= 2 * x->nr_ranges + 16)
		x->shift++;
	x->nr_buckets = (span >> x->shift) + 1;
}

static void fill_buckets(const struct sym_index *x, uint32_t *first)
{
	const struct range *ranges = ranges_of(x);
	uint64_t span = ranges[x->nr_ranges - 1].start - x->base;
	size_t at = 0;

	for (size_t b = 0; b <= x->nr_buckets; b++) {
		uint64_t start = b == x->nr_buckets ? span : (uint64_t)b << x->shift;

		while (at + 1 < x->nr_ranges && ranges[at + 1].start - x->base <= start)
			at++;
		first[b] = (uint32_t)at;
	}
}

size_t sym_index_bytes(const struct sym_index *x)
{
	return sizeof(*x) + x->nr_ranges * sizeof(struct range) +
	       (x->nr_ranges ? x->nr_buckets + 1 : 0) * sizeof(uint32_t);
}

struct sym_index *sym_index_new(const struct sym *syms, size_t nr)
{
	CLEANUP(sweep_fini) struct sweep s = { 0 };
	struct sym_index x = { 0 }, *out;

	if (sweep_all(&s, syms, nr))
		return NULL;
	x.nr_ranges = s.out.len;
	if (x.nr_ranges) {
		x.base = s.out.data[0].start;
		choose_buckets(&x, s.out.data);
	}
	out = malloc(sym_index_bytes(&x));
	if (!out)
		return NULL;
	*out = x;
	if (x.nr_ranges) {
		memcpy(out + 1, s.out.data, x.nr_ranges * sizeof(struct range));
		fill_buckets(out, (uint32_t *)((struct range *)(out + 1) + x.nr_ranges));
	}
	return out;
}

bool sym_index_fits(const struct sym_index *x, size_t len)
{
	return len >= sizeof(*x) && x->nr_ranges < len && x->nr_buckets < len &&
	       sym_index_bytes(x) == len;
}

uint32_t sym_index_find(const struct sym_index *x, uint64_t off)
{
	const struct range *ranges;
	uint64_t bucket;
	size_t lo, hi;

	if (!x || !x->nr_ranges || off < x->base)
		return SYM_INDEX_NONE;
	bucket = (off - x->base) >> x->shift;
	if (bucket >= x->nr_buckets)
		return SYM_INDEX_NONE; /* behind the start of the last range: the end */
	ranges = ranges_of(x);
	lo = first_of(x)[bucket];
	hi = first_of(x)[bucket + 1];
	while (lo < hi) { /* the last range that starts at or before off */
		size_t mid = lo + (hi - lo + 1) / 2;

		if (ranges[mid].start <= off)
			lo = mid;
		else
			hi = mid - 1;
	}
	return ranges[lo].who;
}
