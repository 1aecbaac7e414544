/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/percent.h"
#include "opfs/profile/arcs.h"
#include "opfs/report/gmon.h"
#include "opfs/report/report.h"

/*
 * gmon.out, for gprof: possible where one image has samples of one event; with the
 * image's own calls.
 */

struct choice { /* what the file is about */
	uint32_t image;
	size_t class;
	bool own_only; /* what the image collected as its own application */
};

static bool is_chosen(const struct choice *c, uint32_t app, uint32_t image)
{
	return image == c->image && (!c->own_only || app == image);
}

/* How many images have samples, as applications or at all.  *image is one of them. */
static size_t count_images(const struct profile *p, bool own_only, uint32_t *image)
{
	size_t nr = 0;

	for (size_t i = 0; i < p->nr_pairs; i++) { /* those of an image are neighbours */
		const struct profile_pair *pair = &p->pairs[i];

		if ((own_only && pair->app != pair->image) ||
		    !profile_any_sample(pair->samples, p->nr_classes) ||
		    (nr && pair->image == *image))
			continue;
		*image = pair->image;
		nr++;
	}
	return nr;
}

/* How many classes have samples of the image.  c->class is one of them. */
static size_t count_classes(const struct profile *p, struct choice *c)
{
	size_t nr = 0;

	for (size_t class = 0; class < p->nr_classes; class ++) {
		bool any = false;

		for (size_t i = 0; i < p->nr_pairs && !any; i++)
			any = is_chosen(c, p->pairs[i].app, p->pairs[i].image) &&
			      p->pairs[i].samples[class];
		if (any)
			c->class = class;
		nr += any;
	}
	return nr;
}

/* Source: opgprof, which tries the selection without dependent images first. */
static int choose(const struct report_job *job, struct choice *c, struct err *err)
{
	const struct profile *p = job->p;
	size_t nr;

	c->own_only = true;
	nr = count_images(p, true, &c->image);
	if (nr != 1 && !job->o->view.exclude_dependent) {
		c->own_only = false;
		nr = count_images(p, false, &c->image);
	}
	if (nr != 1)
		return err_set(
			err, -EINVAL,
			"gmon.out is about one image, and this selects %zu: choose "
			"one with image: or lib-image:",
			nr);
	nr = count_classes(p, c);
	if (nr != 1)
		return err_set(
			err, -EINVAL,
			"gmon.out is about one event, and this selects %zu: choose "
			"one with event:, count: or unit-mask:",
			nr);
	return 0;
}

static int check_symbols(const struct profile *p, uint32_t image, struct err *err)
{
	const struct profile_image *img = &p->images[image];

	if (img->table && sym_usable(img->state))
		return 0;
	return err_set(err, -EINVAL, "gprof finds no symbols in %.100s: %.200s",
		       p->cat->images[image].shown,
		       img->reason ? img->reason : sym_state_name(img->state));
}

static int check(const struct report_job *job, struct err *err)
{
	const struct catalog_image *img;
	struct choice c = { 0 };
	int rc = choose(job, &c, err);

	if (rc)
		return rc;
	img = &job->p->cat->images[c.image];
	if (img->kernel || img->name.kind != SPEC_IMAGE_ROOT)
		return err_set(err, -EINVAL,
			       "gprof reads programs and libraries, not %s (%.100s)",
			       img->kernel ? "the kernel and its modules"
					   : "memory without a file",
			       img->shown);
	return profile_has_symbols(job->p->loaded) ? check_symbols(job->p, c.image, err)
						   : -EAGAIN;
}

/* ---- samples */

static bool is_known(const struct sym *sym)
{
	return sym && !(sym->flags & SYM_PLT) &&
	       gmon_knows(sym_name(sym), sym->flags & SYM_GLOBAL);
}

static int add_symbols(struct gmon *g, const struct sym_table *t)
{
	for (size_t i = 0; i < t->nr_syms; i++)
		if (is_known(&t->syms[i]) && gmon_symbol(g, t->syms[i].vma))
			return -ENOMEM;
	gmon_sort(g);
	return 0;
}

/* Whose function is shown: what threshold: leaves out is in the total only. */
static bool is_shown(const struct report_job *job, const struct profile_row *row,
		     size_t class)
{
	return is_known(row->sym) &&
	       percent_of(row->samples[class], job->p->classes[class].total) >=
		       job->o->view.threshold;
}

static int add_row(struct gmon *g, const struct report_job *job,
		   const struct profile_row *row, size_t class)
{
	const struct profile *p = job->p;
	int rc = 0;

	if (!is_shown(job, row, class))
		return row->samples[class] ? gmon_nobody(g, row->samples[class]) : 0;
	for (size_t i = 0; i < row->nr_hits && !rc; i++) {
		uint64_t count = profile_hit_samples(row, i, p->nr_classes)[class];

		if (count)
			rc = gmon_sample(g, profile_hit_vma(p, row, i), row->sym->vma,
					 count);
	}
	return rc;
}

static int add_rows(struct gmon *g, const struct report_job *job, const struct choice *c)
{
	for (size_t i = 0; i < job->p->nr_rows; i++) {
		const struct profile_row *row = &job->p->rows[i];

		if (i % 1024 == 0 && viewer_gone(job->v))
			return -EINTR;
		if (is_chosen(c, row->app, row->image) && !row->aside &&
		    add_row(g, job, row, c->class))
			return -ENOMEM;
	}
	return 0;
}

/* ---- arcs */

struct arcs {
	struct gmon *g;
	const struct sym_table *table;
	const struct choice *choice;
};

static int add_arc(void *ctx, const struct profile_raw_arc *arc)
{
	const struct arcs *a = ctx;
	uint64_t from, self;

	if (!is_chosen(a->choice, arc->app, arc->caller) || arc->callee != arc->caller ||
	    arc->class != a->choice->class || !arc->value ||
	    !sym_vma(a->table, arc->from, &from) || !sym_vma(a->table, arc->to, &self))
		return 0;
	return gmon_call(a->g, from, self, arc->value);
}

/* True for a 32-bit binary, which its table of symbols does not tell. */
static bool is_narrow(const struct report_job *job, uint32_t image)
{
	const struct profile_image *img = &job->p->images[image];
	CLEANUP(close_fd) int fd = -1;
	unsigned char ident[EI_NIDENT];

	if (!img->has_job || !img->job.path)
		return false;
	fd = sym_server_open(sym_cache_server(job->syms), img->job.path,
			     viewer_cred(job->v), viewer_cancel(job->v), NULL);
	return fd >= 0 && file_pread_all(fd, ident, sizeof(ident), 0) == sizeof(ident) &&
	       ident[EI_CLASS] == ELFCLASS32;
}

static int fill(struct gmon *g, const struct report_job *job, const struct choice *c,
		struct err *err)
{
	const struct sym_table *table = job->p->images[c->image].table;
	struct arcs arcs = { g, table, c };
	int rc = add_symbols(g, table);

	rc = rc ? rc : add_rows(g, job, c);
	rc = rc ? rc : profile_each_arc(job->p, job->v, add_arc, &arcs, err);
	return rc;
}

static int render_gmon(const struct report_job *job, struct strbuf *out, struct err *err)
{
	CLEANUP(gmon_fini) struct gmon g = { 0 };
	struct choice c = { 0 };
	int rc = choose(job, &c, err);

	if (rc)
		return rc;
	g.narrow = is_narrow(job, c.image);
	rc = report_result(fill(&g, job, &c, err), err);
	return rc ? rc : gmon_write(&g, out, err);
}

const struct report report_gmon = {
	.name = "gmon.out",
	.doc = "one image and event for gprof: gprof BINARY gmon.out",
	.needs = PROFILE_HITS | PROFILE_ARCS,
	.more = true,
	.tags = OPTION_TAG(MERGE) | OPTION_TAG(THRESHOLD) | OPTION_TAG(WITH) |
		OPTION_TAG(IMAGE_PATH) | OPTION_TAG(ROOT),
	.words = OPTION_WITH(EXCLUDE_DEPENDENT),
	.check = check,
	.render = render_gmon,
};
