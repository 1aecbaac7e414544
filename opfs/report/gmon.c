/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/gmon.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/*
 * The file, as binutils' gmon_out.h has it: "gmon", u32 version, 12 bytes of nothing;
 * then records, each a tag and what follows, packed, in the byte order of the machine:
 *	0: low, high, u32 bins, u32 rate, 15 bytes dimension, 1 byte its letter, and
 *	   u16 counts
 *	1: from, self, u32 count
 * An address has as many bits as those of the binary.
 */
enum { TAG_HISTOGRAM = 0, TAG_ARC = 1 };
enum { VERSION = 1, SPARE = 12, HISTOGRAM_BYTES = 41, ARC_BYTES = 21 };
enum { UNIT = 2, MAX_BIN = UINT16_MAX };

/* Ranges without samples that are worth saving a histogram; many make gprof slow. */
enum { GAP_UNITS = 2048, MAX_RANGES = 256 };

void gmon_fini(struct gmon *g)
{
	vec_fini(&g->starts);
	vec_fini(&g->bins);
	vec_fini(&g->arcs);
}

/* ---- symbols */

static const char *skip(const char *name, const char *prefix)
{
	size_t len = strlen(prefix);

	return strlen(name) > len && !strncmp(name, prefix, len) ? name + len : NULL;
}

/*
 * The part of @name behind a dot and digits, or behind the mark of a clone; NULL: other.
 */
static const char *skip_clone(const char *name)
{
	const char *clone = skip(name, ".clone.");
	bool digits = false;

	clone = clone ? clone : skip(name, ".constprop.");
	name = clone ? clone : name + 1;
	for (; *name && !(digits && *name == '.'); name++) {
		if (!isdigit((unsigned char)*name))
			return NULL;
		digits = true;
	}
	return name;
}

/*
 * Source: core_sym_class() of gprof 2.40; parts like "f.cold" belong to the symbol
 * before.
 */
bool gmon_knows(const char *name, bool global)
{
	if (global)
		return true;
	if (!*name || skip(name, "__gnu_compiled") || skip(name, "___gnu_compiled"))
		return false;
	while (name && *name) {
		if (*name == '$')
			return false;
		name = *name == '.' ? skip_clone(name) : name + 1;
	}
	return name != NULL;
}

int gmon_symbol(struct gmon *g, uint64_t vma)
{
	return vec_push(&g->starts, vma / UNIT);
}

static int compare_u64(const void *x, const void *y)
{
	const uint64_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

void gmon_sort(struct gmon *g)
{
	size_t kept = 0;

	if (!g->starts.len)
		return;
	qsort(g->starts.data, g->starts.len, sizeof(*g->starts.data), compare_u64);
	for (size_t i = 1; i < g->starts.len; i++)
		if (g->starts.data[i] != g->starts.data[kept])
			g->starts.data[++kept] = g->starts.data[i];
	g->starts.len = kept + 1;
}

/* ---- samples and arcs */

int gmon_sample(struct gmon *g, uint64_t vma, uint64_t start, uint64_t count)
{
	struct gmon_bin bin = { .unit = vma / UNIT, .count = count };
	uint64_t first = start / UNIT, *at = NULL;

	if (g->starts.len)
		at = bsearch(&first, g->starts.data, g->starts.len, sizeof(first),
			     compare_u64);
	if (!at)
		return gmon_nobody(g, count);
	bin.owner = (uint32_t)(at - g->starts.data);
	if (bin.unit < first)
		bin.unit = first;
	if (bin.owner + 1 < g->starts.len && bin.unit >= at[1])
		bin.unit = at[1] - 1;
	return vec_push(&g->bins, bin);
}

int gmon_nobody(struct gmon *g, uint64_t count)
{
	struct gmon_bin bin = { .count = count, .owner = GMON_NOBODY };

	if (!g->starts.len || !g->starts.data[0]) /* there is nothing before them */
		return 0;
	bin.unit = g->starts.data[0] - 1;
	return vec_push(&g->bins, bin);
}

int gmon_call(struct gmon *g, uint64_t from, uint64_t self, uint64_t count)
{
	struct gmon_arc arc = { from, self, count };

	return vec_push(&g->arcs, arc);
}

static int compare_bins(const void *x, const void *y)
{
	const struct gmon_bin *a = x, *b = y;

	return (a->unit > b->unit) - (a->unit < b->unit);
}

static void merge_bins(struct gmon *g)
{
	size_t kept = 0;

	if (!g->bins.len)
		return;
	qsort(g->bins.data, g->bins.len, sizeof(*g->bins.data), compare_bins);
	for (size_t i = 1; i < g->bins.len; i++) {
		const struct gmon_bin *bin = &g->bins.data[i];

		if (bin->unit == g->bins.data[kept].unit)
			g->bins.data[kept].count += bin->count;
		else
			g->bins.data[++kept] = *bin;
	}
	g->bins.len = kept + 1;
}

static int compare_arcs(const void *x, const void *y)
{
	const struct gmon_arc *a = x, *b = y;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->self > b->self) - (a->self < b->self);
}

static void merge_arcs(struct gmon *g)
{
	size_t kept = 0;

	if (!g->arcs.len)
		return;
	qsort(g->arcs.data, g->arcs.len, sizeof(*g->arcs.data), compare_arcs);
	for (size_t i = 1; i < g->arcs.len; i++) {
		const struct gmon_arc *arc = &g->arcs.data[i];

		if (!compare_arcs(arc, &g->arcs.data[kept]))
			g->arcs.data[kept].count += arc->count;
		else
			g->arcs.data[++kept] = *arc;
	}
	g->arcs.len = kept + 1;
}

/* ---- ranges */

/*
 * One histogram, or several of one range.  A symbol is in one range only, because gprof
 * -c stops at a symbol that is in two.
 */
struct range {
	size_t first, end; /* indices into bins */
	uint64_t times;    /* the number of histograms that its largest count takes */
};

struct ranges {
	VEC(struct range) list;
};

static void ranges_fini(struct ranges *r)
{
	vec_fini(&r->list);
}

/* The bins of one symbol, from @first. */
static struct range run_of(const struct gmon *g, size_t first)
{
	struct range run = { first, first, 1 };
	const struct gmon_bin *bins = g->bins.data;

	for (; run.end < g->bins.len && bins[run.end].owner == bins[first].owner;
	     run.end++) {
		uint64_t count = bins[run.end].count;
		uint64_t times = count / MAX_BIN + (count % MAX_BIN != 0);

		run.times = times > run.times ? times : run.times;
	}
	return run;
}

/* Joins ranges that are no further apart than @gap. */
static int make_ranges(const struct gmon *g, uint64_t gap, struct ranges *out)
{
	const struct gmon_bin *bins = g->bins.data;

	out->list.len = 0;
	for (size_t i = 0; i < g->bins.len;) {
		struct range run = run_of(g, i);
		struct range *last =
			out->list.len ? &out->list.data[out->list.len - 1] : NULL;

		i = run.end;
		if (last && last->times == run.times &&
		    bins[run.first].unit - bins[run.first - 1].unit <= gap)
			last->end = run.end;
		else if (vec_push(&out->list, run))
			return -ENOMEM;
	}
	return 0;
}

static int choose_ranges(const struct gmon *g, struct ranges *out)
{
	uint64_t gap = GAP_UNITS;
	int rc = make_ranges(g, gap, out);

	while (!rc && out->list.len > MAX_RANGES && gap < 1u << 20) {
		gap *= 8;
		rc = make_ranges(g, gap, out);
	}
	return rc;
}

static uint64_t units_of(const struct gmon *g, const struct range *r)
{
	return g->bins.data[r->end - 1].unit - g->bins.data[r->first].unit + 1;
}

/* False: larger than GMON_MAX_BYTES. */
static bool fits(const struct gmon *g, const struct ranges *ranges)
{
	uint64_t bytes = g->arcs.len * (uint64_t)ARC_BYTES;

	vec_for(&ranges->list, r) {
		uint64_t units = units_of(g, r);

		if (units > GMON_MAX_BYTES || r->times > GMON_MAX_BYTES)
			return false;
		bytes += r->times * (HISTOGRAM_BYTES + units * sizeof(uint16_t));
		if (bytes > GMON_MAX_BYTES)
			return false;
	}
	return true;
}

/* ---- bytes */

static void put_u32(struct strbuf *out, uint32_t v)
{
	strbuf_add(out, &v, sizeof(v));
}

static void put_address(const struct gmon *g, struct strbuf *out, uint64_t v)
{
	strbuf_add(out, &v, g->narrow ? sizeof(uint32_t) : sizeof(v));
}

static void put_histogram(const struct gmon *g, const struct range *r, uint64_t nth,
			  struct strbuf *out)
{
	const struct gmon_bin *bins = g->bins.data;
	uint64_t low = bins[r->first].unit, units = units_of(g, r);
	char dimension[15] = "samples";
	size_t at;

	strbuf_putc(out, TAG_HISTOGRAM);
	put_address(g, out, low * UNIT);
	put_address(g, out, (low + units) * UNIT);
	put_u32(out, (uint32_t)units);
	put_u32(out, 1);
	strbuf_add(out, dimension, sizeof(dimension));
	strbuf_putc(out, '1'); /* as opgprof */
	strbuf_fill(out, '\0', units * sizeof(uint16_t));
	if (strbuf_error(out))
		return;
	at = out->len - units * sizeof(uint16_t);
	for (size_t i = r->first; i < r->end; i++) {
		uint64_t told = nth * MAX_BIN;
		uint64_t left = bins[i].count > told ? bins[i].count - told : 0;
		uint16_t count = (uint16_t)(left > MAX_BIN ? MAX_BIN : left);

		memcpy(out->data + at + (bins[i].unit - low) * sizeof(count), &count,
		       sizeof(count));
	}
}

static void put_arc(const struct gmon *g, const struct gmon_arc *arc, struct strbuf *out)
{
	uint64_t left = arc->count;

	do {
		uint32_t count = left > UINT32_MAX ? UINT32_MAX : (uint32_t)left;

		strbuf_putc(out, TAG_ARC);
		put_address(g, out, arc->from);
		put_address(g, out, arc->self);
		put_u32(out, count);
		left -= count;
	} while (left);
}

int gmon_write(struct gmon *g, struct strbuf *out, struct err *err)
{
	CLEANUP(ranges_fini) struct ranges ranges = { 0 };

	merge_bins(g);
	merge_arcs(g);
	if (choose_ranges(g, &ranges))
		return err_set(err, -ENOMEM, "out of memory");
	if (!fits(g, &ranges))
		return err_set(err, -EINVAL,
			       "a histogram of these samples would be larger than %u MiB",
			       GMON_MAX_BYTES >> 20);
	strbuf_puts(out, "gmon");
	put_u32(out, VERSION);
	strbuf_fill(out, '\0', SPARE);
	vec_for(&ranges.list, r)
		for (uint64_t i = 0; i < r->times; i++)
			put_histogram(g, r, i, out);
	vec_for(&g->arcs, arc)
		put_arc(g, arc, out);
	return strbuf_error(out) ? err_set(err, -ENOMEM, "out of memory") : 0;
}
