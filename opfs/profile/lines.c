/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/profile/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/parallel.h"
#include "base/vec.h"
#include "opfs/profile/stacks.h"

/* Places with samples that are no further apart than this are asked for as one range. */
enum { NEAR = 16 };

struct lines {
	struct sym_lines **of;              /* of each image, or NULL */
	const char **why;                   /* of each image: why it has no lines */
	const struct profile_image *images; /* of the profile */
	size_t nr;                          /* of them */
	struct arena arena;
};

struct lines_job {
	uint32_t image;
	VEC(struct sym_range) ranges;
	struct sym_lines *got;
	int rc;
	struct err err;
};

struct lines_load {
	const struct lines_query *q;
	struct lines *l;
	struct lines_job *jobs; /* one an image that has places */
	uint32_t *job_of;       /* of each image, one more than its job's index */
	size_t nr_jobs;
};

static int no_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "out of memory while looking up source lines");
}

/* ---- what is asked for */

/* In a comparison, what is gone may be of an older build than the image's file. */
static bool is_of(const struct profile_row *row, const struct profile_image *img)
{
	const struct sym_table *t = img->table;

	return !row->gone ||
	       (t && row->sym >= t->syms && row->sym < t->syms + t->nr_syms);
}

static bool has_code(const struct profile_image *img)
{
	return img->table && img->has_job;
}

static struct lines_job *job_of(struct lines_load *load, uint32_t image)
{
	uint32_t *at = &load->job_of[image];

	if (!*at) {
		load->jobs[load->nr_jobs].image = image;
		*at = (uint32_t)++load->nr_jobs;
	}
	return &load->jobs[*at - 1];
}

static int add_hits(struct lines_job *j, const struct profile_row *row)
{
	for (size_t i = 0, end; i < row->nr_hits; i = end) {
		struct sym_range range = { row->hits[i], 0 };

		for (end = i + 1; end < row->nr_hits; end++)
			if (row->hits[end] - row->hits[end - 1] > NEAR)
				break;
		range.end = row->hits[end - 1] + 1;
		if (range.end > range.off && vec_push(&j->ranges, range))
			return -ENOMEM;
	}
	return 0;
}

static bool has_places(enum lines_of what)
{
	return what == LINES_OF_PLACES || what == LINES_OF_HITS || what == LINES_OF_ALL;
}

static bool has_functions(enum lines_of what)
{
	return what == LINES_OF_CODE || what == LINES_OF_ALL;
}

static int add_row(struct lines_load *load, const struct profile_row *row)
{
	struct lines_job *j;
	struct sym_range range;

	if (!has_code(&load->q->p->images[row->image]) ||
	    !is_of(row, &load->q->p->images[row->image]))
		return 0;
	if (has_places(load->q->what) && add_hits(job_of(load, row->image), row))
		return -ENOMEM;
	if (!row->sym || load->q->what == LINES_OF_PLACES)
		return 0;
	range = (struct sym_range){ row->sym->off, row->sym->off + 1 };
	if (has_functions(load->q->what) && row->sym->size)
		range.end = row->sym->off + row->sym->size;
	if (range.end <= range.off)
		return 0;
	j = job_of(load, row->image);
	return vec_push(&j->ranges, range);
}

static int add_frames(struct lines_load *load)
{
	const struct lines_query *q = load->q;

	for (size_t i = 1; q->frames && i < q->p->stacks->nr_frames; i++) {
		const struct profile_frame *f = &q->p->stacks->frames[i];
		struct sym_range range;

		if (!q->frames[i] || f->image == CATALOG_NO_IMAGE ||
		    !has_code(&q->p->images[f->image]))
			continue;
		range.off = profile_frame_off(q->p, f);
		range.end = range.off + 1;
		if (vec_push(&job_of(load, f->image)->ranges, range))
			return -ENOMEM;
	}
	return 0;
}

static int add_all(struct lines_load *load)
{
	const struct lines_query *q = load->q;
	size_t nr = q->rows ? q->nr_rows : q->p->nr_rows;

	for (size_t i = 0; i < nr; i++)
		if (add_row(load, q->rows ? q->rows[i] : &q->p->rows[i]))
			return -ENOMEM;
	if (add_frames(load))
		return -ENOMEM;
	for (size_t i = 0; i < load->nr_jobs; i++) {
		struct lines_job *j = &load->jobs[i];

		/* rows of several applications share symbols */
		j->ranges.len = sym_ranges_join(j->ranges.data, j->ranges.len);
	}
	return 0;
}

/* ---- asking */

static void run_job(void *ctx, size_t i)
{
	struct lines_load *load = ctx;
	const struct lines_query *q = load->q;
	struct lines_job *j = &load->jobs[i];
	struct sym_job job = q->p->images[j->image].job;

	if (viewer_gone(q->v)) {
		j->rc = -EINTR;
		return;
	}
	if (!j->ranges.len)
		return;
	job.cred = viewer_cred(q->v);
	j->rc = sym_server_lines(sym_cache_server(q->syms), &job, j->ranges.data,
				 j->ranges.len, q->flags, viewer_cancel(q->v), &j->got,
				 &j->err);
	vec_fini(&j->ranges);
}

static int take_job(struct lines_load *load, struct lines_job *j, struct err *err)
{
	struct lines *l = load->l;
	const char *why = NULL;

	if (j->rc == -EINTR)
		return err_set(err, -EINTR, "interrupted while looking up source lines");
	if (j->rc == -ENOMEM)
		return no_memory(err);
	if (j->rc)
		why = j->err.msg;
	else if (j->got && !j->got->nr_rows)
		why = *j->got->reason ? j->got->reason : "no source lines are known";
	if (why) {
		why = archive_dir_shown(&load->q->p->cat->archive, why);
		l->why[j->image] = arena_strdup(&l->arena, why);
		return l->why[j->image] ? 0 : no_memory(err);
	}
	lines_set(l, j->image, TAKE(j->got));
	return 0;
}

static void load_fini(struct lines_load *load)
{
	for (size_t i = 0; i < load->nr_jobs; i++) {
		vec_fini(&load->jobs[i].ranges);
		sym_lines_put(load->jobs[i].got);
	}
	free(load->jobs);
	free(load->job_of);
}

struct lines *lines_new(const struct profile *p)
{
	struct lines *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->nr = p->cat->nr_images;
	l->images = p->images;
	l->of = arena_calloc(&l->arena, l->nr + 1, sizeof(*l->of));
	l->why = arena_calloc(&l->arena, l->nr + 1, sizeof(*l->why));
	if (l->of && l->why)
		return l;
	lines_free(l);
	return NULL;
}

void lines_set(struct lines *l, uint32_t image, struct sym_lines *of)
{
	sym_lines_put(l->of[image]);
	l->of[image] = of;
}

/* What is known without a job: an image without a symbol table cannot have lines. */
static void note_reasons(struct lines *l, const struct profile *p)
{
	for (size_t i = 0; i < l->nr; i++) {
		const struct profile_image *img = &p->images[i];

		if (img->used && !img->table)
			l->why[i] =
				img->reason ? img->reason : sym_state_name(img->state);
	}
}

static int load_init(struct lines_load *load)
{
	size_t nr = load->q->p->cat->nr_images;

	load->jobs = calloc(nr + 1, sizeof(*load->jobs));
	load->job_of = calloc(nr + 1, sizeof(*load->job_of));
	return load->jobs && load->job_of ? add_all(load) : -ENOMEM;
}

int lines_wanted(const struct lines_query *q,
		 int (*visit)(void *ctx, uint32_t image, const struct sym_range *ranges,
			      size_t nr),
		 void *ctx, struct err *err)
{
	CLEANUP(load_fini) struct lines_load load = { .q = q };
	int rc = load_init(&load);

	if (rc)
		return no_memory(err);
	for (size_t i = 0; i < load.nr_jobs && !rc; i++) {
		const struct lines_job *j = &load.jobs[i];

		rc = visit(ctx, j->image, j->ranges.data, j->ranges.len);
	}
	return rc;
}

static int ask_all(struct lines_load *load, struct err *err)
{
	int rc = load_init(load);

	if (rc)
		return no_memory(err);
	parallel_each("reading source lines", "parts", load->nr_jobs, run_job, load);
	for (size_t i = 0; i < load->nr_jobs && !rc; i++)
		rc = take_job(load, &load->jobs[i], err);
	return rc;
}

int lines_load(const struct lines_query *q, struct lines **out, struct err *err)
{
	CLEANUP(lines_freep) struct lines *l = lines_new(q->p);
	CLEANUP(load_fini) struct lines_load load = { .q = q, .l = l };
	int rc = 0;

	if (!l)
		return no_memory(err);
	note_reasons(l, q->p);
	if (q->syms)
		rc = ask_all(&load, err);
	if (!rc)
		*out = TAKE(l);
	return rc;
}

void lines_free(struct lines *l)
{
	if (!l)
		return;
	for (size_t i = 0; l->of && i < l->nr; i++)
		sym_lines_put(l->of[i]);
	arena_fini(&l->arena);
	free(l);
}

size_t lines_bytes(const struct lines *l)
{
	size_t sum = sizeof(*l) + l->arena.total;

	for (size_t i = 0; i < l->nr; i++)
		sum += l->of[i] ? l->of[i]->bytes : 0;
	return sum;
}

/* ---- answers */

const struct sym_lines *lines_image(const struct lines *l, uint32_t image)
{
	return image < l->nr ? l->of[image] : NULL;
}

const char *lines_reason(const struct lines *l, uint32_t image)
{
	return image < l->nr ? l->why[image] : NULL;
}

static void set_file(struct line_place *at, uint32_t file, uint32_t line)
{
	at->file = file < at->lines->nr_files ? at->lines->files[file] : NULL;
	at->line = line;
	if (at->file && !*at->file)
		at->file = NULL;
}

static void set_inline(struct line_place *at, uint32_t index)
{
	at->inline_index = index < at->lines->nr_inlines ? index : SYM_LINE_NONE;
	at->inlined = NULL;
	if (at->inline_index != SYM_LINE_NONE)
		at->inlined = at->lines->inlines[at->inline_index].name;
}

void lines_place(const struct sym_lines *of, const struct sym_line *row,
		 struct line_place *out)
{
	*out = (struct line_place){ .lines = of };
	set_file(out, row->file, row->line);
	set_inline(out, row->inlined);
}

bool lines_at(const struct lines *l, uint32_t image, uint64_t off, struct line_place *out)
{
	const struct sym_lines *of = lines_image(l, image);
	const struct sym_line *row = of ? sym_line_find(of, off) : NULL;

	if (!row)
		return false;
	lines_place(of, row, out);
	return out->file || out->inlined;
}

bool lines_caller(struct line_place *at)
{
	const struct sym_inline *in;

	if (at->inline_index == SYM_LINE_NONE)
		return false;
	in = &at->lines->inlines[at->inline_index];
	set_file(at, in->call_file, in->call_line);
	/* Parents come before children, so damaged tables cannot make a loop. */
	set_inline(at, in->parent < at->inline_index ? in->parent : SYM_LINE_NONE);
	return true;
}

bool lines_of_row(const struct lines *l, const struct profile_row *row,
		  struct line_place *out)
{
	return row->sym && is_of(row, &l->images[row->image]) &&
	       lines_at(l, row->image, row->sym->off, out) && out->file;
}
