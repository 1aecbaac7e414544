/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/calltree_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/percent.h"
#include "base/vec.h"
#include "opfs/profile/calltree.h"
#include "opfs/profile/inlines.h"
#include "opfs/report/whole_stacks.h"

#define THRESHOLD 0.5           /* percent, unless threshold: says otherwise */
#define MAX_TEXT (256ull << 20) /* bytes */
enum { NUMBER_WIDTH = 9, IMAGE_WIDTH = 25 };

/* A line that is still to be written: @depth levels below the roots. */
struct entry {
	uint32_t node;
	uint32_t depth;
	uint32_t hidden; /* so many children of @node, which are too small */
};

struct writer {
	const struct report_job *job;
	struct calltree tree;
	double threshold;
	VEC(struct entry) todo; /* the next one last */
	VEC(uint32_t) children;
	uint64_t *hidden; /* samples of siblings that are too small, one a class */
	struct strbuf *out;
};

static void writer_fini(struct writer *w)
{
	calltree_fini(&w->tree);
	vec_fini(&w->todo);
	vec_fini(&w->children);
	free(w->hidden);
}

/* ---- lines */

static void add_padded(struct strbuf *out, size_t start, size_t width)
{
	size_t len = out->len - start;

	strbuf_fill(out, ' ', len < width ? width - len : 1);
}

static void add_number(uint64_t n, uint64_t of, struct strbuf *out)
{
	char percent[PERCENT_MAX];
	size_t start = out->len;

	strbuf_number(out, n, 0);
	add_padded(out, start, NUMBER_WIDTH);
	start = out->len;
	percent_format(percent_of(n, of), percent);
	strbuf_puts(out, percent);
	add_padded(out, start, NUMBER_WIDTH);
}

/* @total, @self: one a class */
static void add_numbers(struct writer *w, const uint64_t *total, const uint64_t *self)
{
	for (size_t c = 0; c < w->tree.nr_classes; c++) {
		add_number(total[c], w->tree.total[c], w->out);
		add_number(self[c], w->tree.total[c], w->out);
	}
}

static void add_titles(struct writer *w)
{
	static const char *const titles[] = { "total", "%", "self", "%" };

	for (size_t c = 0; c < w->tree.nr_classes; c++)
		for (size_t i = 0; i < sizeof(titles) / sizeof(*titles); i++) {
			size_t start = w->out->len;

			strbuf_puts(w->out, titles[i]);
			add_padded(w->out, start, NUMBER_WIDTH);
		}
	strbuf_printf(w->out, "%-*s%s\n", IMAGE_WIDTH, "image name", "function");
}

void calltree_text_name(const struct calltree_func *f, struct strbuf *out)
{
	escape_text(out, f->name);
	if (f->kind == FRAME_INLINED)
		strbuf_puts(out, PROFILE_INLINED);
}

static void add_image(struct writer *w, const struct calltree_func *f)
{
	const char *image = view_file_name(&w->job->o->view, f->image);
	size_t start = w->out->len;

	escape_text(w->out, *image ? image : "-");
	add_padded(w->out, start, IMAGE_WIDTH);
}

static void add_node(struct writer *w, const struct entry *e)
{
	size_t nr = w->tree.nr_classes;
	const struct calltree_func *f = &w->tree.funcs[w->tree.nodes[e->node].func];

	add_numbers(w, w->tree.total + e->node * nr, w->tree.self + e->node * nr);
	add_image(w, f);
	strbuf_fill(w->out, '.', e->depth);
	calltree_text_name(f, w->out);
	strbuf_putc(w->out, '\n');
}

/* ---- the order */

static bool is_hidden(const struct writer *w, uint32_t node)
{
	size_t nr = w->tree.nr_classes;

	return !percent_reached(w->tree.total + node * nr, w->tree.total, nr,
				w->threshold);
}

static int heaviest_last(const void *x, const void *y, void *ctx)
{
	const struct calltree *t = ctx;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	uint64_t p = t->total[a * t->nr_classes], q = t->total[b * t->nr_classes];

	return p != q ? p < q ? -1 : 1 : 0;
}

/* Of equal ones the first by name is first: the list is turned round before. */
static int push_children(struct writer *w, const struct entry *e)
{
	uint32_t depth = e->node ? e->depth + 1 : 0;
	struct entry rest = { .node = e->node, .depth = depth };

	w->children.len = 0;
	for (uint32_t at = w->tree.nodes[e->node].first; at; at = w->tree.nodes[at].next)
		if (is_hidden(w, at))
			rest.hidden++;
		else if (vec_push(&w->children, at))
			return -ENOMEM;
	for (size_t i = 0, j = w->children.len; i + 1 < j; i++) {
		uint32_t other = w->children.data[--j];

		w->children.data[j] = w->children.data[i];
		w->children.data[i] = other;
	}
	if (w->children.len)
		qsort_r(w->children.data, w->children.len, sizeof(*w->children.data),
			heaviest_last, &w->tree);
	if (rest.hidden && vec_push(&w->todo, rest))
		return -ENOMEM;
	vec_for(&w->children, child) {
		const struct entry next = { .node = *child, .depth = depth };

		if (vec_push(&w->todo, next))
			return -ENOMEM;
	}
	return 0;
}

/* All that is too small below a node, in one line. */
static void add_hidden(struct writer *w, const struct entry *e)
{
	size_t nr = w->tree.nr_classes, start;

	memset(w->hidden, 0, nr * sizeof(*w->hidden));
	for (uint32_t at = w->tree.nodes[e->node].first; at; at = w->tree.nodes[at].next)
		if (is_hidden(w, at))
			for (size_t c = 0; c < nr; c++)
				w->hidden[c] += w->tree.total[at * nr + c];
	add_numbers(w, w->hidden, w->hidden);
	start = w->out->len;
	strbuf_putc(w->out, '-');
	add_padded(w->out, start, IMAGE_WIDTH);
	strbuf_fill(w->out, '.', e->depth);
	strbuf_printf(w->out, "[%u with less than %g %% each]\n", (unsigned)e->hidden,
		      w->threshold);
}

static int write_tree(struct writer *w, struct err *err)
{
	const struct entry all = { 0 };

	if (push_children(w, &all))
		return report_no_memory(err);
	for (size_t n = 0; w->todo.len; n++) {
		struct entry e = w->todo.data[--w->todo.len];

		if (n % 1024 == 0 && viewer_gone(w->job->v))
			return report_interrupted(err);
		if (w->out->len > MAX_TEXT)
			return err_set(err, -E2BIG,
				       "the call tree takes more than %llu MiB: leave "
				       "out what is small with threshold:",
				       MAX_TEXT >> 20);
		if (e.hidden) {
			add_hidden(w, &e);
			continue;
		}
		add_node(w, &e);
		if (push_children(w, &e))
			return report_no_memory(err);
	}
	return report_done(w->out, err);
}

int calltree_text(const struct report_job *job, bool inverted, struct strbuf *out,
		  struct err *err)
{
	CLEANUP(writer_fini) struct writer w = { .job = job, .out = out };
	const struct calltree_options how = { .inverted = inverted };
	int rc;

	if (report_nothing(job->p, out))
		return report_done(out, err);
	rc = calltree_build(job->p, &how, job->v, &w.tree, err);
	if (rc)
		return rc;
	w.hidden = calloc(w.tree.nr_classes + 1, sizeof(*w.hidden));
	if (!w.hidden)
		return report_no_memory(err);
	w.threshold =
		job->o->tags & OPTION_TAG(THRESHOLD) ? job->o->view.threshold : THRESHOLD;
	if (!job->o->view.no_header) {
		report_header(job, out);
		add_titles(&w);
	}
	return write_tree(&w, err);
}

int calltree_text_check(const struct report_job *job, struct err *err)
{
	return whole_stacks_check(job, "a call tree", err);
}
