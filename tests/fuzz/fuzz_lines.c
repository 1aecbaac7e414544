/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: libsym base */
/*
 * Rows made of lines, inlined functions and bytes asked for, all of them arbitrary: each
 * byte gets a line and the innermost function that there is for it.  DWARF of arbitrary
 * bytes is libdw's matter: test_lines.c gives it to helpers.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "libsym/dwarf/lines_reader.h"
#include "libsym/dwarf/lines_rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX = 40 };

struct input {
	struct sym_section loads[2]; /* by offset, disjoint; addresses in any order */
	struct sym_range ranges[MAX];
	struct sym_run runs[MAX];
	struct sym_scope scopes[MAX];
	size_t nr_ranges, nr_runs, nr_scopes;
};

static size_t count(struct cursor *c)
{
	return cursor_u8(c) % (MAX + 1);
}

static void read_input(struct cursor *c, struct input *in)
{
	uint8_t flags = cursor_u8(c);
	uint64_t first = cursor_u8(c), second = cursor_u8(c);
	bool swapped = flags & 1;

	in->loads[0] = (struct sym_section){ 0x100, first + 1, swapped ? 0x600 : 0x300 };
	in->loads[1] = (struct sym_section){ 0x101 + first + (flags >> 1), second + 1,
					     swapped ? 0x300 : 0x301 + first };
	in->nr_ranges = count(c);
	for (size_t i = 0; i < in->nr_ranges; i++) {
		in->ranges[i].off = cursor_u16(c) & 0x3ff;
		in->ranges[i].end = in->ranges[i].off + cursor_u8(c) % 64;
	}
	in->nr_runs = count(c);
	for (size_t i = 0; i < in->nr_runs; i++) {
		in->runs[i].lo = cursor_u16(c) & 0x7ff;
		in->runs[i].hi = in->runs[i].lo + 1 + cursor_u8(c);
		in->runs[i].line = cursor_u8(c);
		in->runs[i].file = SYM_LINE_NONE;
	}
	in->nr_scopes = count(c);
	for (size_t i = 0; i < in->nr_scopes; i++) {
		in->scopes[i].lo = cursor_u16(c) & 0x7ff;
		in->scopes[i].hi = in->scopes[i].lo + 1 + cursor_u8(c);
		in->scopes[i].depth = cursor_u8(c) & 7;
		in->scopes[i].inlined = (uint32_t)i;
	}
}

/* The lines of an address are those of @in; what @row says of it is one of them. */
static void check_byte(const struct input *in, uint64_t vma, const struct sym_line *row)
{
	bool covered = false, right = false, inlined = false;
	uint32_t depth = 0;

	for (size_t i = 0; i < in->nr_runs; i++)
		if (in->runs[i].lo <= vma && vma < in->runs[i].hi) {
			covered = true;
			right |= row && row->line == in->runs[i].line;
		}
	if (covered ? !right : row != NULL)
		abort();
	if (!row)
		return;
	for (size_t i = 0; i < in->nr_scopes; i++)
		if (in->scopes[i].lo <= vma && vma < in->scopes[i].hi) {
			inlined = true;
			depth = in->scopes[i].depth > depth ? in->scopes[i].depth : depth;
		}
	if (inlined != (row->inlined != SYM_LINE_NONE))
		abort();
	if (inlined &&
	    (in->scopes[row->inlined].depth != depth ||
	     in->scopes[row->inlined].lo > vma || in->scopes[row->inlined].hi <= vma))
		abort();
}

static void check(const struct input *in, const struct sym_lines_build *b)
{
	struct sym_lines l = { .rows = b->rows.data, .nr_rows = b->rows.len };

	for (size_t i = 0; i < l.nr_rows; i++)
		if (l.rows[i].off >= l.rows[i].end ||
		    (i && l.rows[i].off < l.rows[i - 1].end))
			abort();
	for (size_t i = 0; i < in->nr_ranges; i++)
		for (uint64_t off = in->ranges[i].off; off < in->ranges[i].end; off++)
			for (int s = 0; s < 2; s++) {
				const struct sym_section *at = &in->loads[s];

				if (off >= at->off && off - at->off < at->size)
					check_byte(in, at->vma + (off - at->off),
						   sym_line_find(&l, off));
			}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cursor c = cursor_init(data, size);
	struct input in = { 0 };
	struct sym_elf image = { .type = ET_DYN, .loads = in.loads, .nr_loads = 2 };
	struct sym_lines_reader r = { .alt_fd = -1 };

	read_input(&c, &in);
	if (sym_wants_make(&image, in.ranges, in.nr_ranges, &r.wants))
		abort();
	for (size_t i = 0; i < in.nr_runs; i++)
		if (vec_push(&r.runs, in.runs[i]))
			abort();
	for (size_t i = 0; i < in.nr_scopes; i++)
		if (vec_push(&r.scopes, in.scopes[i]))
			abort();
	if (sym_lines_make_rows(&r))
		abort();
	check(&in, &r.b);
	sym_wants_fini(&r.wants);
	sym_lines_build_fini(&r.b);
	vec_fini(&r.runs);
	vec_fini(&r.scopes);
	return 0;
}
