/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/source/asm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/percent.h"
#include "base/vec.h"
#include "opfs/report/view.h"

#define WINDOW_BYTES (2u << 20) /* code that is in memory as instructions at once */
#define WINDOW_UNITS 8192u
#define MAX_UNIT (8u << 20) /* of one function; a longer one shows no code */

/* ---- units */

static int compare_rows(const void *pa, const void *pb)
{
	const struct profile_row *a = *(const struct profile_row *const *)pa;
	const struct profile_row *b = *(const struct profile_row *const *)pb;

	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->sym != b->sym)
		return a->sym->off < b->sym->off ? -1 : 1;
	return a->app < b->app ? -1 : a->app > b->app;
}

static bool same_unit(const struct profile_row *a, const struct profile_row *b)
{
	return a->image == b->image && a->kind == b->kind && a->sym == b->sym;
}

static int compare_units(const void *pa, const void *pb)
{
	const struct asm_unit *a = pa, *b = pb;

	if (a->samples[0] != b->samples[0])
		return a->samples[0] > b->samples[0] ? -1 : 1;
	return compare_rows(&a->rows[0], &b->rows[0]);
}

/*
 * Pieces around samples: from shortly before the first of those that are close together.
 */
static size_t pieces_around(const uint64_t *hits, size_t nr, struct sym_range *out)
{
	uint64_t bytes = 0;
	size_t n = 0;

	for (size_t i = 0; i < nr && bytes < MAX_UNIT; i++) {
		uint64_t off = hits[i] > ASM_AROUND ? hits[i] - ASM_AROUND : 0;
		uint64_t end;

		if (__builtin_add_overflow(hits[i], ASM_AROUND, &end))
			continue;
		bytes += end - off;
		if (n && off <= out[n - 1].end) {
			out[n - 1].end = end > out[n - 1].end ? end : out[n - 1].end;
			continue;
		}
		/* code before it may begin inside an instruction: kept apart */
		if (off < hits[i])
			out[n++] = (struct sym_range){ off, hits[i] };
		out[n++] = (struct sym_range){ hits[i], end };
	}
	return n;
}

static int compare_offs(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

static int ranges_of_hits(struct asm_units *all, struct asm_unit *u)
{
	uint64_t *hits;
	size_t nr = 0, at = 0;

	for (size_t i = 0; i < u->nr_rows; i++)
		nr += u->rows[i]->nr_hits;
	if (!nr)
		return 0;
	hits = arena_calloc(&all->arena, nr, sizeof(*hits));
	u->ranges = arena_calloc(&all->arena, 2 * nr, sizeof(*u->ranges));
	if (!hits || !u->ranges)
		return -ENOMEM;
	for (size_t i = 0; i < u->nr_rows; i++) {
		memcpy(hits + at, u->rows[i]->hits, u->rows[i]->nr_hits * sizeof(*hits));
		at += u->rows[i]->nr_hits;
	}
	qsort(hits, nr, sizeof(*hits), compare_offs);
	u->nr_ranges = pieces_around(hits, nr, u->ranges);
	return 0;
}

static int set_ranges(struct asm_units *all, struct asm_unit *u)
{
	const struct sym *s = u->rows[0]->sym;

	if (!s)
		return ranges_of_hits(all, u);
	u->ranges = arena_alloc(&all->arena, sizeof(*u->ranges));
	if (!u->ranges)
		return -ENOMEM;
	u->ranges[0] =
		(struct sym_range){ s->off,
				    s->off + (s->size < MAX_UNIT ? s->size : MAX_UNIT) };
	u->nr_ranges = 1;
	return 0;
}

static int add_unit(struct asm_units *all, const struct view *view, double threshold,
		    const struct profile_row **rows, size_t nr)
{
	size_t nr_classes = view->p->nr_classes;
	struct asm_unit u = { .rows = rows, .nr_rows = nr };

	u.samples = arena_calloc(&all->arena, nr_classes + 1, sizeof(*u.samples));
	if (!u.samples)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		view_add_samples(u.samples, rows[i]->samples, nr_classes);
	if (!percent_reached(u.samples, view->totals, view->p->nr_classes, threshold))
		return 0;
	all->units[all->nr++] = u;
	return set_ranges(all, &all->units[all->nr - 1]);
}

void asm_units_fini(struct asm_units *u)
{
	for (size_t i = 0; u->broken && i < u->nr_images; i++)
		sym_disasm_put(u->broken[i]);
	arena_fini(&u->arena);
	*u = (struct asm_units){ 0 };
}

int asm_units_make(struct asm_units *u, const struct view *view, double threshold)
{
	size_t nr = view->nr_rows;
	const struct profile_row **rows;
	int rc = 0;

	*u = (struct asm_units){ 0 };
	rows = arena_calloc(&u->arena, nr + 1, sizeof(*rows));
	u->units = arena_calloc(&u->arena, nr + 1, sizeof(*u->units));
	u->nr_images = view->p->cat->nr_images;
	u->broken =
		arena_calloc(&u->arena, u->nr_images + 1, sizeof(struct sym_disasm *));
	if (!rows || !u->units || !u->broken)
		return -ENOMEM;
	memcpy(rows, view->rows, nr * sizeof(*rows));
	qsort(rows, nr, sizeof(*rows), compare_rows);
	for (size_t i = 0, end; i < nr && !rc; i = end) {
		for (end = i + 1; end < nr && same_unit(rows[i], rows[end]);)
			end++;
		rc = add_unit(u, view, threshold, rows + i, end - i);
	}
	if (!rc)
		qsort(u->units, u->nr, sizeof(*u->units), compare_units);
	return rc;
}

/* ---- code */

void asm_window_fini(struct asm_window *w)
{
	for (size_t i = 0; i < w->nr_codes; i++)
		sym_disasm_put(w->codes[i]);
	free(w->codes);
	*w = (struct asm_window){ 0 };
}

/*
 * An image that is shown as itself is opened only if its samples are told by offset in
 * it.
 */
static bool has_code(const struct asm_unit *u, const struct profile *p)
{
	const struct profile_image *img = &p->images[u->rows[0]->image];

	if (!img->has_job)
		return false;
	return img->table || (img->state == SYM_NO_SYMBOLS && img->job.kind == SYM_USER);
}

const char *asm_reason(const struct asm_unit *u, const struct profile *p)
{
	const struct profile_image *img = &p->images[u->rows[0]->image];

	if (u->code)
		return u->code->state == SYM_OK
			       ? NULL
			       : archive_dir_shown(&p->cat->archive, u->code->reason);
	return img->reason ? img->reason : "it was in memory only, which is not kept";
}

struct batch { /* units of one image in a window */
	const struct report_job *job;
	struct asm_unit **units;
	size_t nr;
};

/* Joins the ranges of the units; each unit remembers where its own begin. */
static struct sym_range *join_ranges(const struct batch *b, size_t *nr)
{
	struct sym_range *out;
	size_t n = 0;

	for (size_t i = 0; i < b->nr; i++)
		n += b->units[i]->nr_ranges;
	out = calloc(n + 1, sizeof(*out));
	*nr = 0;
	for (size_t i = 0; i < b->nr && out; i++) {
		struct asm_unit *u = b->units[i];

		u->first_code = *nr;
		memcpy(out + *nr, u->ranges, u->nr_ranges * sizeof(*out));
		*nr += u->nr_ranges;
	}
	return out;
}

static int ask(const struct batch *b, uint32_t image, struct sym_disasm **out,
	       struct err *err)
{
	const struct report_job *job = b->job;
	const struct viewer *v = job->v;
	struct sym_job ask = job->p->images[image].job;
	size_t nr;
	CLEANUP(free_ptr) struct sym_range *ranges = join_ranges(b, &nr);
	int rc;

	if (!ranges)
		return report_no_memory(err);
	ask.cred = viewer_cred(v);
	rc = sym_server_disasm(sym_cache_server(job->syms), &ask, ranges, nr,
			       job->o->syntax ? job->o->syntax : "", viewer_cancel(v),
			       out, err);
	/* either all ranges were answered, or none, with a reason */
	if (!rc && (*out)->state == SYM_OK && (*out)->nr_codes != nr) {
		sym_disasm_put(*out);
		return err_set(err, -EBADMSG, "symbol helper: not the code asked for");
	}
	return rc;
}

/* An image that killed a helper, or exhausted its limits, is not asked for again. */
static int fetch(const struct batch *b, struct asm_units *all, struct sym_disasm **out,
		 struct err *err)
{
	uint32_t image = b->units[0]->rows[0]->image;
	int rc = 0;

	if (all->broken[image])
		*out = sym_disasm_get(all->broken[image]);
	else
		rc = ask(b, image, out, err);
	if (rc)
		return rc;
	if ((*out)->state == SYM_BROKEN && !all->broken[image])
		all->broken[image] = sym_disasm_get(*out);
	for (size_t i = 0; i < b->nr; i++)
		b->units[i]->code = *out;
	return 0;
}

static int compare_by_image(const void *pa, const void *pb)
{
	const struct asm_unit *a = *(struct asm_unit *const *)pa;
	const struct asm_unit *b = *(struct asm_unit *const *)pb;

	return compare_rows(&a->rows[0], &b->rows[0]);
}

/* @units: those of the window that have code, sorted by image. */
static int fetch_all(struct asm_window *w, struct asm_units *all,
		     const struct report_job *job, struct asm_unit **units, size_t nr,
		     struct err *err)
{
	int rc = 0;

	w->codes = calloc(nr + 1, sizeof(struct sym_disasm *));
	if (!w->codes)
		return report_no_memory(err);
	for (size_t i = 0, end; i < nr && !rc; i = end) {
		struct batch b = { .job = job, .units = units + i };

		for (end = i + 1;
		     end < nr && units[end]->rows[0]->image == units[i]->rows[0]->image;)
			end++;
		b.nr = end - i;
		rc = fetch(&b, all, &w->codes[w->nr_codes], err);
		w->nr_codes += !rc;
	}
	return rc;
}

static uint64_t bytes_of(const struct asm_unit *u)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < u->nr_ranges; i++)
		sum += u->ranges[i].end - u->ranges[i].off;
	return sum;
}

int asm_window_next(struct asm_window *w, struct asm_units *u,
		    const struct report_job *job, struct err *err)
{
	CLEANUP(free_ptr) struct asm_unit **units = NULL;
	size_t first = w->end, end = first, nr = 0;
	uint64_t bytes = 0;
	int rc;

	asm_window_fini(w);
	for (; end < u->nr && end - first < WINDOW_UNITS; end++) {
		uint64_t more = bytes_of(&u->units[end]);

		if (end > first && bytes + more > WINDOW_BYTES)
			break;
		bytes += more;
	}
	w->first = first;
	w->end = end;
	if (first == end)
		return 0;
	units = calloc(end - first, sizeof(*units));
	if (!units)
		return report_no_memory(err);
	for (size_t i = first; i < end; i++)
		if (job->syms && has_code(&u->units[i], job->p))
			units[nr++] = &u->units[i];
	qsort(units, nr, sizeof(*units), compare_by_image);
	rc = fetch_all(w, u, job, units, nr, err);
	return rc ? rc : 1;
}
