/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "base/cleanup.h"
#include "opfs/profile/calltree.h"
#include "opfs/report/export/export.h"
#include "opfs/report/export/folded.h"
#include "opfs/report/whole_stacks.h"

/* stacks.folded: a line a stack, for flamegraph.pl and whatever reads what it reads. */

static const char file_name[] = "stacks.folded";

struct folding {
	const struct report_job *job;
	struct calltree tree;
	const char **names; /* of functions; in the tree's arena */
	struct folded folded;
	size_t class;
	struct strbuf stack; /* the one at hand */
	VEC(uint32_t) path;  /* its functions, innermost first */
};

static void folding_fini(struct folding *f)
{
	calltree_fini(&f->tree);
	folded_fini(&f->folded);
	strbuf_fini(&f->stack);
	vec_fini(&f->path);
}

static int name_funcs(struct folding *f)
{
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };
	struct arena *arena = &f->tree.arena;

	f->names = arena_calloc(arena, f->tree.nr_funcs + 1, sizeof(*f->names));
	if (!f->names)
		return -ENOMEM;
	for (size_t i = 0; i < f->tree.nr_funcs; i++) {
		strbuf_reset(&name);
		if (folded_name(&f->tree.funcs[i], &name))
			return -ENOMEM;
		f->names[i] = arena_memdup(arena, name.data, name.len);
		if (!f->names[i])
			return -ENOMEM;
	}
	return 0;
}

/* The stack that ends at a node, in f->stack. */
static int spell(struct folding *f, uint32_t node)
{
	f->path.len = 0;
	strbuf_reset(&f->stack);
	for (uint32_t at = node; at; at = f->tree.nodes[at].parent)
		if (vec_push(&f->path, f->tree.nodes[at].func))
			return -ENOMEM;
	for (size_t i = f->path.len; i-- > 0;) {
		strbuf_puts(&f->stack, f->names[f->path.data[i]]);
		if (i)
			strbuf_putc(&f->stack, ';');
		if (f->stack.len > EXPORT_MAX_BYTES)
			break;
	}
	return strbuf_error(&f->stack);
}

static int fold(struct folding *f, struct err *err)
{
	int rc = name_funcs(f);

	for (size_t i = 1; i < f->tree.nr_nodes && !rc; i++) {
		uint64_t samples = f->tree.self[i * f->tree.nr_classes + f->class];

		if (!samples)
			continue;
		if (viewer_gone(f->job->v))
			return -EINTR;
		rc = spell(f, (uint32_t)i);
		rc = rc ? rc : folded_add(&f->folded, &f->stack, samples);
		rc = rc ? rc
			: export_check_size(f->folded.bytes, EXPORT_MAX_BYTES, file_name,
					    err);
	}
	return rc;
}

static int check(const struct report_job *job, struct err *err)
{
	size_t class;

	return whole_stacks_one_event(job, file_name, &class, err);
}

static int render(const struct report_job *job, struct strbuf *out, struct err *err)
{
	CLEANUP(folding_fini) struct folding f = { .job = job };
	const struct calltree_options how = { 0 };
	int rc = whole_stacks_one_event(job, file_name, &f.class, err);

	rc = rc ? rc : calltree_build(job->p, &how, job->v, &f.tree, err);
	if (rc)
		return rc;
	rc = report_result(fold(&f, err), err);
	if (rc)
		return rc;
	folded_write(&f.folded, out);
	return report_done(out, err);
}

const struct report report_folded = {
	.name = "stacks.folded",
	.doc = "a line a stack, main;parse;lex 12, for flamegraph.pl and the like",
	.needs = PROFILE_STACKS,
	.calls = true,
	.inlines = true,
	.more = true,
	.tags = EXPORT_TAGS,
	.words = OPTION_WITH(INLINES),
	.check = check,
	.render = render,
};
