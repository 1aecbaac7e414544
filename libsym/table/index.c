/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/table/index.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/vec.h"

struct range { /* to the next one's start; the last one has none and covers nothing */
	uint64_t start;
	uint32_t who, zero;
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
	struct range *ranges; /* with room for all */
	size_t nr;
	VEC(struct open_sym) open; /* the innermost last */
};

static void sweep_fini(struct sweep *s)
{
	vec_fini(&s->open);
}

static void emit(struct sweep *s, uint64_t start, uint32_t who)
{
	if (s->nr && s->ranges[s->nr - 1].start == start)
		s->nr--;
	s->ranges[s->nr++] = (struct range){ .start = start, .who = who };
}

/* Closes the symbols that end at or before @pos. */
static void close_until(struct sweep *s, uint64_t pos)
{
	while (s->open.len && s->open.data[s->open.len - 1].end <= pos) {
		uint64_t at = s->open.data[s->open.len - 1].end;
		uint32_t outer = SYM_INDEX_NONE;

		while (s->open.len && s->open.data[s->open.len - 1].end <= at)
			s->open.len--;
		if (s->open.len)
			outer = s->open.data[s->open.len - 1].who;
		emit(s, at, outer);
	}
}

static int sweep_all(struct sweep *s, const struct sym *syms, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct open_sym o = { .end = syms[i].off + syms[i].size,
				      .who = (uint32_t)i };

		close_until(s, syms[i].off);
		if (o.end <= syms[i].off)
			continue;
		emit(s, syms[i].off, o.who);
		if (vec_push(&s->open, o))
			return -ENOMEM;
	}
	close_until(s, UINT64_MAX);
	return 0;
}

/* So many are there at most. */
static uint64_t most_buckets(uint64_t nr_ranges)
{
	return 2 * nr_ranges + 16;
}

/* Buckets of a width that gives about one range each, if they are spread evenly. */
static void choose_buckets(struct sym_index *x, const struct range *ranges)
{
	uint64_t span = ranges[x->nr_ranges - 1].start - x->base;

	while (span >> x->shift >= most_buckets(x->nr_ranges))
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

static size_t bytes_of(const struct sym_index *x)
{
	return sizeof(*x) + x->nr_ranges * sizeof(struct range) +
	       (x->nr_ranges ? x->nr_buckets + 1 : 0) * sizeof(uint32_t);
}

size_t sym_index_room(size_t nr)
{
	struct sym_index most = { .nr_ranges = 2 * nr,
				  .nr_buckets = most_buckets(2 * nr) };

	return bytes_of(&most);
}

size_t sym_index_make(const struct sym *syms, size_t nr, struct sym_index *x)
{
	CLEANUP(sweep_fini) struct sweep s = { .ranges = (struct range *)(x + 1) };

	*x = (struct sym_index){ 0 };
	if (sweep_all(&s, syms, nr))
		return 0;
	x->nr_ranges = s.nr;
	if (x->nr_ranges) {
		x->base = s.ranges[0].start;
		choose_buckets(x, s.ranges);
		fill_buckets(x, (uint32_t *)(s.ranges + x->nr_ranges));
	}
	return bytes_of(x);
}

bool sym_index_fits(const struct sym_index *x, size_t len)
{
	return len >= sizeof(*x) && x->nr_ranges < len && x->nr_buckets < len &&
	       bytes_of(x) == len;
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
