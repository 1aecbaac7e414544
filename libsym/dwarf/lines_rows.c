/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/dwarf/lines_rows.h"

#include <errno.h>
#include <stdlib.h>

#include "libsym/dwarf/inlines.h"

int sym_lines_take_row(struct sym_lines_reader *r, uint64_t lo, uint64_t hi,
		       Dwarf_Line *line)
{
	struct sym_run run = { .lo = lo, .hi = hi }, *last;
	Dwarf_Files *files;
	size_t file = 0;
	int number = 0, rc;

	r->at = sym_wants_from(&r->wants, lo < r->last ? 0 : r->at, lo);
	r->last = lo;
	if (r->at >= r->wants.nr || r->wants.list[r->at].vma >= hi)
		return 0;
	if (dwarf_line_file(line, &files, &file) || dwarf_lineno(line, &number))
		return -EBADMSG;
	rc = sym_lines_file(r, file, &run.file);
	if (rc)
		return rc;
	run.line = (uint32_t)number;
	last = r->runs.len ? &r->runs.data[r->runs.len - 1] : NULL;
	if (last && last->hi == lo && last->file == run.file && last->line == run.line) {
		last->hi = hi;
		return 0;
	}
	return vec_push(&r->runs, run);
}

static int by_address(const void *pa, const void *pb)
{
	const struct sym_run *a = pa, *b = pb;

	if (a->lo != b->lo)
		return a->lo < b->lo ? -1 : 1;
	return a->hi < b->hi ? -1 : a->hi > b->hi;
}

/*
 * Sorts by address and makes them disjoint: where tables contradict each other, the
 * earlier start wins.
 */
static void order_runs(struct sym_lines_reader *r)
{
	uint64_t end = 0;
	size_t kept = 0;
	bool sorted = true;

	for (size_t i = 1; i < r->runs.len && sorted; i++)
		sorted = r->runs.data[i - 1].lo <= r->runs.data[i].lo;
	if (!sorted)
		qsort(r->runs.data, r->runs.len, sizeof(*r->runs.data), by_address);
	for (size_t i = 0; i < r->runs.len; i++) {
		struct sym_run cut = r->runs.data[i];

		if (cut.lo < end)
			cut.lo = end;
		if (cut.lo >= cut.hi)
			continue;
		end = cut.hi;
		r->runs.data[kept++] = cut;
	}
	r->runs.len = kept;
}

static bool same_line(const struct sym_line *a, const struct sym_line *b)
{
	return a->file == b->file && a->line == b->line && a->inlined == b->inlined;
}

static int add_row(struct sym_lines_reader *r, const struct sym_line *row)
{
	struct sym_line *last = r->b.rows.len ? &r->b.rows.data[r->b.rows.len - 1] : NULL;

	if (last && last->end == row->off && same_line(last, row)) {
		last->end = row->end;
		return 0;
	}
	return vec_push(&r->b.rows, *row);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * The last range asked for, from @i on, that begins before @hi and whose offset and
 * address are as far apart.
 */
static size_t last_before(const struct sym_wants *w, size_t i, uint64_t hi)
{
	size_t j = sym_wants_from(w, i, hi - 1);
	uint64_t delta = w->list[i].vma - w->list[i].off;

	if (j >= w->nr || w->list[j].vma >= hi)
		j--;
	return w->list[j].vma - w->list[j].off == delta ? j : i;
}

/*
 * From the first to the last byte asked for in @run: one row, or more where offsets
 * jump.
 */
static int clip(struct sym_lines_reader *r, const struct sym_run *run, uint32_t inlined)
{
	const struct sym_wants *w = &r->wants;
	size_t i = sym_wants_from(w, r->at, run->lo), j;

	for (r->at = i; i < w->nr && w->list[i].vma < run->hi; i = j + 1) {
		const struct sym_want *a = &w->list[i], *b;
		uint64_t lo = run->lo > a->vma ? run->lo : a->vma;
		struct sym_line row = { .file = run->file,
					.line = run->line,
					.inlined = inlined };

		j = last_before(w, i, run->hi);
		b = &w->list[j];
		row.off = a->off + (lo - a->vma);
		row.end = b->off + (least(run->hi, b->end) - b->vma);
		if (add_row(r, &row))
			return -ENOMEM;
		r->at = j;
	}
	return 0;
}

/* One run, split where inlined functions begin and end. */
static int split(struct sym_lines_reader *r, struct sym_run run, size_t *scope)
{
	size_t s = *scope;
	int rc = 0;

	while (s < r->scopes.len && r->scopes.data[s].hi <= run.lo)
		s++;
	*scope = s;
	while (run.lo < run.hi && !rc) {
		const struct sym_scope *in =
			s < r->scopes.len ? &r->scopes.data[s] : NULL;
		struct sym_run piece = run;

		if (in && in->lo > run.lo)
			piece.hi = least(in->lo, run.hi);
		else if (in)
			piece.hi = least(in->hi, run.hi);
		rc = clip(r, &piece,
			  in && in->lo <= run.lo ? in->inlined : SYM_LINE_NONE);
		run.lo = piece.hi;
		s += in && in->hi <= run.lo;
	}
	return rc;
}

static int by_off(const void *pa, const void *pb)
{
	const struct sym_line *a = pa, *b = pb;

	return a->off < b->off ? -1 : a->off > b->off;
}

/* A segment in memory may be longer than in the file. */
static void order_rows(struct sym_lines_reader *r)
{
	uint64_t end = 0;
	size_t kept = 0;
	bool sorted = true;

	for (size_t i = 1; i < r->b.rows.len && sorted; i++)
		sorted = r->b.rows.data[i - 1].end <= r->b.rows.data[i].off;
	if (sorted)
		return;
	qsort(r->b.rows.data, r->b.rows.len, sizeof(*r->b.rows.data), by_off);
	for (size_t i = 0; i < r->b.rows.len; i++) {
		struct sym_line cut = r->b.rows.data[i];

		if (cut.off < end)
			cut.off = end;
		if (cut.off >= cut.end)
			continue;
		end = cut.end;
		r->b.rows.data[kept++] = cut;
	}
	r->b.rows.len = kept;
}

int sym_lines_make_rows(struct sym_lines_reader *r)
{
	size_t scope = 0;
	int rc = sym_inlines_flatten(r);

	order_runs(r);
	r->at = 0;
	for (size_t i = 0; i < r->runs.len && !rc; i++)
		rc = split(r, r->runs.data[i], &scope);
	order_rows(r);
	return rc;
}
