/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/percent.h"
#include "base/vec.h"
#include "opfs/profile/calltree.h"
#include "opfs/report/calltree_text.h"
#include "opfs/report/whole_stacks.h"

/* The stacks with most samples, each from the outermost caller inwards. */

enum { NR_PATHS = 10 };

struct paths {
	const struct calltree *t;
	size_t class;
	uint32_t top[NR_PATHS]; /* nodes, the heaviest first */
	size_t nr;
	VEC(uint32_t) frames; /* of the path at hand, the innermost first */
};

static uint64_t self_of(const struct paths *p, uint32_t node)
{
	return p->t->self[node * p->t->nr_classes + p->class];
}

/* Of equal ones the first in the tree stays first. */
static void consider(struct paths *p, uint32_t node)
{
	size_t at = p->nr;

	if (!self_of(p, node))
		return;
	while (at && self_of(p, p->top[at - 1]) < self_of(p, node))
		at--;
	if (at == NR_PATHS)
		return;
	p->nr += p->nr < NR_PATHS;
	memmove(p->top + at + 1, p->top + at, (p->nr - at - 1) * sizeof(*p->top));
	p->top[at] = node;
}

static void add_frame(const struct report_job *job, const struct calltree_func *f,
		      struct strbuf *out)
{
	strbuf_putc(out, '\t');
	calltree_text_name(f, out);
	if (*f->image) {
		strbuf_puts(out, "  (");
		escape_text(out, view_file_name(&job->o->view, f->image));
		strbuf_putc(out, ')');
	}
	strbuf_putc(out, '\n');
}

static int add_path(struct paths *p, const struct report_job *job, size_t rank,
		    struct strbuf *out)
{
	uint64_t self = self_of(p, p->top[rank]);
	char percent[PERCENT_MAX];

	percent_format(percent_of(self, p->t->total[p->class]), percent);
	strbuf_printf(out, "%zu. %" PRIu64 " samples, %s %%\n", rank + 1, self,
		      percent + strspn(percent, " "));
	p->frames.len = 0;
	for (uint32_t at = p->top[rank]; at; at = p->t->nodes[at].parent)
		if (vec_push(&p->frames, p->t->nodes[at].func))
			return -1;
	for (size_t i = p->frames.len; i-- > 0;)
		add_frame(job, &p->t->funcs[p->frames.data[i]], out);
	return 0;
}

static int add_class(const struct report_job *job, struct paths *p, struct strbuf *out)
{
	uint64_t sum = 0;
	int rc = 0;

	p->nr = 0;
	for (uint32_t i = 1; i < p->t->nr_nodes; i++)
		consider(p, i);
	for (size_t i = 0; i < p->nr; i++)
		sum += self_of(p, p->top[i]);
	if (!job->o->view.no_header) {
		strbuf_printf(out, "The %zu stacks with most samples of ", p->nr);
		report_event(&job->p->classes[p->class], out);
		strbuf_printf(out, ", %.4g %% of all:\n",
			      percent_of(sum, p->t->total[p->class]));
	}
	for (size_t i = 0; i < p->nr && !rc; i++)
		rc = add_path(p, job, i, out);
	vec_fini(&p->frames);
	return rc;
}

static int check(const struct report_job *job, struct err *err)
{
	return whole_stacks_check(job, "hot-paths", err);
}

static int render_hot_paths(const struct report_job *job, struct strbuf *out,
			    struct err *err)
{
	CLEANUP(calltree_fini) struct calltree t = { 0 };
	const struct calltree_options how = { 0 };
	struct paths p = { .t = &t };
	int rc;

	if (report_nothing(job->p, out))
		return report_done(out, err);
	rc = calltree_build(job->p, &how, job->v, &t, err);
	if (rc)
		return rc;
	if (!job->o->view.no_header)
		report_header(job, out);
	for (p.class = 0; p.class < t.nr_classes; p.class ++)
		if (add_class(job, &p, out))
			return report_no_memory(err);
	return report_done(out, err);
}

const struct report report_hot_paths = {
	.name = "hot-paths",
	.doc = "the ten stacks with most samples",
	.needs = PROFILE_STACKS,
	.calls = true,
	.inlines = true,
	.tags = OPTION_TAG(MERGE) | OPTION_TAG(SPLIT) | OPTION_TAG(INCLUDE_SYMBOLS) |
		OPTION_TAG(EXCLUDE_SYMBOLS) | OPTION_TAG(DEMANGLE) | OPTION_TAG(WITH) |
		OPTION_TAG(IMAGE_PATH) | OPTION_TAG(ROOT),
	.words = OPTION_WITH(NO_HEADER) | OPTION_WITH(LONG_FILENAMES) |
		 OPTION_WITH(INLINES),
	.check = check,
	.render = render_hot_paths,
};
