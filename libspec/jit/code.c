/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libspec/jit/code.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

void spec_jit_list_fini(struct spec_jit_list *l)
{
	vec_fini(&l->codes);
	arena_fini(&l->names);
	*l = (struct spec_jit_list){ 0 };
}

/* Ends before a character of UTF-8 that would be cut. */
static size_t cut_name(const char *name, size_t len)
{
	if (len <= SPEC_JIT_NAME_MAX)
		return len;
	len = SPEC_JIT_NAME_MAX;
	while (len > SPEC_JIT_NAME_MAX - 4 && ((unsigned char)name[len] & 0xc0) == 0x80)
		len--;
	return len;
}

static bool is_control(unsigned char c)
{
	return c < ' ' || c == 0x7f;
}

/* Has the list room for what is code?  If not it is counted. */
static bool takes(struct spec_jit_list *l, uint64_t start, uint64_t size)
{
	bool sound = size && size <= UINT64_MAX - start;
	bool room = l->codes.len < SPEC_JIT_MAX_CODES;

	l->bad += !sound;
	l->too_many += sound && !room;
	return sound && room;
}

int spec_jit_add_same(struct spec_jit_list *l, uint64_t start, uint64_t size,
		      const char *name)
{
	const struct spec_jit_code code = { .start = start, .size = size, .name = name };

	return takes(l, start, size) ? vec_push(&l->codes, code) : 0;
}

int spec_jit_add(struct spec_jit_list *l, uint64_t start, uint64_t size, const char *name,
		 size_t len)
{
	char *copy;

	/* in a line they would belong to what is before */
	for (; len && (*name == ' ' || *name == '\t'); len--)
		name++;
	if (!takes(l, start, len ? size : 0))
		return 0;
	l->cut += len > SPEC_JIT_NAME_MAX;
	len = cut_name(name, len);
	copy = arena_memdup(&l->names, name, len);
	if (!copy)
		return -ENOMEM;
	for (size_t i = 0; i < len; i++)
		if (is_control((unsigned char)copy[i]))
			copy[i] = '?';
	return spec_jit_add_same(l, start, size, copy);
}

/* ---- overlaps */

struct span {
	uint64_t start, end;
	uint64_t kept; /* bytes that no later one has */
	uint32_t order;
};

static int compare_spans(const void *pa, const void *pb)
{
	const struct span *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* Spans that have begun, the last told on top: a heap of their numbers. */
struct open {
	struct span *spans;
	uint32_t *heap;
	size_t nr;
};

static bool wins(const struct open *o, size_t a, size_t b)
{
	return o->spans[o->heap[a]].order > o->spans[o->heap[b]].order;
}

static void swap(struct open *o, size_t a, size_t b)
{
	uint32_t was = o->heap[a];

	o->heap[a] = o->heap[b];
	o->heap[b] = was;
}

static void push(struct open *o, uint32_t span)
{
	size_t at = o->nr++;

	o->heap[at] = span;
	for (; at && wins(o, at, (at - 1) / 2); at = (at - 1) / 2)
		swap(o, at, (at - 1) / 2);
}

static void pop(struct open *o)
{
	size_t at = 0;

	o->heap[0] = o->heap[--o->nr];
	for (;;) {
		size_t best = at, left = 2 * at + 1;

		if (left < o->nr && wins(o, left, best))
			best = left;
		if (left + 1 < o->nr && wins(o, left + 1, best))
			best = left + 1;
		if (best == at)
			return;
		swap(o, at, best);
		at = best;
	}
}

typedef VEC(struct spec_jit_code) code_list;

/* Adds what the winning span has from @at on, or prolongs what it has just before.
 * @last: the span of the last piece. */
static int add_piece(const struct spec_jit_list *l, struct span *from, uint64_t at,
		     uint64_t end, const struct span **last, code_list *out)
{
	struct spec_jit_code piece = { at, end - at, l->codes.data[from->order].name };
	struct spec_jit_code *before = out->len ? &out->data[out->len - 1] : NULL;

	from->kept += piece.size;
	if (before && *last == from && before->start + before->size == at) {
		before->size += piece.size;
		return 0;
	}
	*last = from;
	return vec_push(out, piece);
}

/* From address to address where anything begins or the winner ends. */
static int cut_all(const struct spec_jit_list *l, struct open *o, size_t nr,
		   code_list *out)
{
	const struct span *last = NULL;
	uint64_t at = 0;
	uint32_t next = 0;
	int rc = 0;

	while (!rc && (o->nr || next < nr)) {
		struct span *top;
		uint64_t end;

		if (!o->nr)
			at = o->spans[next].start;
		while (next < nr && o->spans[next].start == at)
			push(o, next++);
		while (o->nr && o->spans[o->heap[0]].end <= at)
			pop(o);
		if (!o->nr)
			continue;
		top = &o->spans[o->heap[0]];
		end = top->end;
		if (next < nr && o->spans[next].start < end)
			end = o->spans[next].start;
		rc = add_piece(l, top, at, end, &last, out);
		at = end;
	}
	return rc;
}

int spec_jit_settle(struct spec_jit_list *l, uint64_t *overlapped)
{
	CLEANUP(free_ptr) struct span *spans = calloc(l->codes.len + 1, sizeof(*spans));
	CLEANUP(free_ptr) uint32_t *heap = calloc(l->codes.len + 1, sizeof(*heap));
	struct open o = { .spans = spans, .heap = heap };
	code_list out = { 0 };
	uint64_t lost = 0;
	int rc;

	if (!spans || !heap)
		return -ENOMEM;
	for (size_t i = 0; i < l->codes.len; i++)
		spans[i] = (struct span){ .start = l->codes.data[i].start,
					  .end = l->codes.data[i].start +
						 l->codes.data[i].size,
					  .order = (uint32_t)i };
	qsort(spans, l->codes.len, sizeof(*spans), compare_spans);
	rc = cut_all(l, &o, l->codes.len, &out);
	if (rc) {
		vec_fini(&out);
		return rc;
	}
	for (size_t i = 0; i < l->codes.len; i++)
		lost += spans[i].kept < spans[i].end - spans[i].start;
	if (overlapped)
		*overlapped = lost;
	vec_fini(&l->codes);
	l->codes.data = out.data;
	l->codes.len = out.len;
	l->codes.cap = out.cap;
	return 0;
}
