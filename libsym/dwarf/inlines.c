/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/dwarf/inlines.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"

enum { MAX_DEPTH = 1024 };

struct frame {            /* what holds in an entry */
	uint32_t inlined; /* the innermost inlined function around */
	uint32_t depth;
	bool outside; /* in a function that was not asked for; one in it may be */
	bool skip;    /* nothing in it was asked for */
};

struct walk {
	struct sym_lines_reader *r;
	Dwarf_Off last; /* the entry before; the next one has to be behind it */
	bool is_c;      /* where types have no functions in them */
};

static int add_scopes(struct sym_lines_reader *r, const struct frame *f)
{
	for (size_t i = 0; i < r->ranges.len; i++) {
		struct sym_scope s = { .lo = r->ranges.data[i].lo,
				       .hi = r->ranges.data[i].hi,
				       .depth = f->depth,
				       .inlined = f->inlined };

		if (sym_wants_any(&r->wants, s.lo, s.hi) && vec_push(&r->scopes, s))
			return -ENOMEM;
	}
	return 0;
}

/* The name, looked up once for all places where a function is inlined. */
static int name_of(struct sym_lines_reader *r, Dwarf_Die *die, uint32_t *out)
{
	Dwarf_Attribute a;
	Dwarf_Die origin = *die;
	uint64_t known;
	int rc;

	dwarf_formref_die(dwarf_attr(die, DW_AT_abstract_origin, &a), &origin);
	if (map_u64_get(&r->functions, (uintptr_t)origin.addr, &known)) {
		*out = (uint32_t)known;
		return 0;
	}
	rc = sym_lines_text(r, sym_dwarf_function(die), out);
	return rc ? rc : map_u64_set(&r->functions, (uintptr_t)origin.addr, *out);
}

static int visit_inlined(struct sym_lines_reader *r, Dwarf_Die *die, struct frame *f)
{
	struct sym_wire_inline in = { .parent = f->inlined };
	uint64_t line = 0, file = UINT64_MAX;
	int rc = sym_dwarf_code(&r->dw, die, &r->ranges);

	if (rc)
		return rc;
	f->skip = r->ranges.len && !sym_lines_wanted(r);
	if (f->skip)
		return 0;
	if (r->b.inlines.len >= SYM_LINE_NONE)
		return -EFBIG;
	if (sym_dwarf_number(die, DW_AT_call_line, &line) && line < UINT32_MAX)
		in.call_line = (uint32_t)line;
	sym_dwarf_number(die, DW_AT_call_file, &file);
	rc = sym_lines_file(r, file, &in.call_file);
	if (!rc)
		rc = name_of(r, die, &in.name);
	if (!rc)
		rc = vec_push(&r->b.inlines, in);
	if (rc)
		return rc;
	f->inlined = (uint32_t)r->b.inlines.len - 1;
	rc = add_scopes(r, f);
	f->depth++;
	return rc;
}

static int visit_function(struct sym_lines_reader *r, Dwarf_Die *die, struct frame *f)
{
	int rc = sym_dwarf_code(&r->dw, die, &r->ranges);

	*f = (struct frame){ .inlined = SYM_LINE_NONE, .outside = !sym_lines_wanted(r) };
	return rc;
}

/* @f: the state around the entry, changed to the state in it. */
static int visit(struct walk *w, Dwarf_Die *die, struct frame *f)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_inlined_subroutine:
		f->skip = f->outside;
		return f->skip ? 0 : visit_inlined(w->r, die, f);
	case DW_TAG_subprogram:
		return visit_function(w->r, die, f);
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		f->skip = w->is_c; /* most entries of a kernel are members of these */
		return 0;
	case DW_TAG_enumeration_type:
	case DW_TAG_array_type:
	case DW_TAG_subroutine_type:
	case DW_TAG_call_site:
	case DW_TAG_GNU_call_site:
		f->skip = true;
		return 0;
	case DW_TAG_invalid:
		return -EBADMSG;
	default:
		return 0;
	}
}

/* Each entry is read once: a sibling that is not behind it would make a loop. */
static int walk(struct walk *w, Dwarf_Die *parent, const struct frame *around,
		unsigned depth)
{
	Dwarf_Die die;
	int end, rc;

	for (end = dwarf_child(parent, &die); !end; end = dwarf_siblingof(&die, &die)) {
		struct frame f = *around;

		if (dwarf_dieoffset(&die) <= w->last || depth >= MAX_DEPTH)
			return -EBADMSG;
		w->last = dwarf_dieoffset(&die);
		rc = visit(w, &die, &f);
		if (!rc && !f.skip && dwarf_haschildren(&die) > 0)
			rc = walk(w, &die, &f, depth + 1);
		if (rc)
			return rc;
	}
	return end < 0 ? -EBADMSG : 0;
}

static bool is_c(Dwarf_Die *cu)
{
	switch (dwarf_srclang(cu)) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case DW_LANG_Mips_Assembler:
		return true;
	default:
		return false;
	}
}

int sym_inlines_read(struct sym_lines_reader *r, Dwarf_Die *cu)
{
	struct frame top = { .inlined = SYM_LINE_NONE };
	struct walk w = { .r = r, .is_c = is_c(cu) };

	return walk(&w, cu, &top, 0);
}

static int by_start(const void *pa, const void *pb)
{
	const struct sym_scope *a = pa, *b = pb;

	if (a->lo != b->lo)
		return a->lo < b->lo ? -1 : 1;
	return a->inlined < b->inlined ? -1 : a->inlined > b->inlined;
}

/* A heap of scopes that have begun, the innermost on top. */
struct heap {
	struct sym_scope *s;
	size_t nr;
};

static bool is_inner(const struct sym_scope *a, const struct sym_scope *b)
{
	if (a->depth != b->depth)
		return a->depth > b->depth;
	return a->inlined > b->inlined;
}

static void push(struct heap *h, const struct sym_scope *s)
{
	size_t i = h->nr++;

	for (; i && is_inner(s, &h->s[(i - 1) / 2]); i = (i - 1) / 2)
		h->s[i] = h->s[(i - 1) / 2];
	h->s[i] = *s;
}

static void pop(struct heap *h)
{
	struct sym_scope last = h->s[--h->nr];
	size_t i = 0, child;

	for (; (child = 2 * i + 1) < h->nr; i = child) {
		if (child + 1 < h->nr && is_inner(&h->s[child + 1], &h->s[child]))
			child++;
		if (!is_inner(&h->s[child], &last))
			break;
		h->s[i] = h->s[child];
	}
	h->s[i] = last;
}

/* Scopes of the heap from @*pos up to @until, into r->scopes. */
static int drain(struct sym_lines_reader *r, struct heap *h, uint64_t *pos,
		 uint64_t until)
{
	while (h->nr && *pos < until) {
		struct sym_scope s = h->s[0];

		if (s.hi <= *pos) {
			pop(h);
			continue;
		}
		s.lo = *pos;
		s.hi = s.hi < until ? s.hi : until;
		*pos = s.hi;
		if (vec_push(&r->scopes, s))
			return -ENOMEM;
	}
	*pos = until;
	return 0;
}

int sym_inlines_flatten(struct sym_lines_reader *r)
{
	CLEANUP(free_ptr) struct sym_scope *in = r->scopes.data;
	CLEANUP(free_ptr) struct sym_scope *room = NULL;
	struct heap h = { 0 };
	size_t nr = r->scopes.len;
	uint64_t pos = 0;
	int rc = 0;

	r->scopes.data = NULL;
	r->scopes.len = r->scopes.cap = 0;
	if (!nr)
		return 0;
	room = malloc(nr * sizeof(*room));
	if (!room)
		return -ENOMEM;
	h.s = room;
	qsort(in, nr, sizeof(*in), by_start);
	for (size_t i = 0; i < nr && !rc; i++) {
		rc = drain(r, &h, &pos, in[i].lo);
		push(&h, &in[i]);
	}
	return rc ? rc : drain(r, &h, &pos, UINT64_MAX);
}
