/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>

#include "base/cleanup.h"
#include "base/percent.h"
#include "opfs/profile/calltree.h"
#include "opfs/report/flame/flame.h"
#include "opfs/report/report.h"
#include "opfs/report/whole_stacks.h"

/* flamegraph.svg: the call tree as a picture. */

enum { MAX_LINES = 3 };

struct lines {
	struct strbuf text[MAX_LINES];
	const char *shown[MAX_LINES];
	size_t nr;
};

static void lines_fini(struct lines *l)
{
	for (size_t i = 0; i < MAX_LINES; i++)
		strbuf_fini(&l->text[i]);
}

/* What was counted, and what of it is not in the picture. */
static int add_lines(const struct report_job *job, size_t class, struct lines *l)
{
	const struct profile *p = job->p;
	const struct profile_class *c = &p->classes[class];
	uint64_t taken = 0, lost = 0;
	int rc = 0;

	report_event(c, &l->text[0]);
	strbuf_printf(&l->text[0], ": %" PRIu64 " samples", c->total);
	if (p->base)
		strbuf_printf(&l->text[0], ", before %" PRIu64 " in %s", c->was_total,
			      job->base_path ? job->base_path : p->base->session);
	l->nr = 1;
	for (size_t i = 0; i < p->cat->nr_dirs; i++) {
		taken += p->cat->dirs[i].stats.value[SPEC_STAT_TAKEN];
		lost += spec_stats_lost(&p->cat->dirs[i].stats);
	}
	if (lost)
		strbuf_printf(&l->text[l->nr++],
			      "lost: %" PRIu64 " of the %" PRIu64
			      " samples that were taken (%.2g %%), see status",
			      lost, taken, percent_of(lost, taken));
	for (size_t i = 0; i < l->nr; i++) {
		l->shown[i] = strbuf_str(&l->text[i]);
		rc = rc ? rc : strbuf_error(&l->text[i]);
	}
	return rc;
}

static int render_flamegraph(const struct report_job *job, struct strbuf *out,
			     struct err *err)
{
	const struct profile *p = job->p;
	struct calltree_options how = { .inverted = job->o->inverted, .was = p->base };
	CLEANUP(calltree_fini) struct calltree t = { 0 };
	CLEANUP(lines_fini) struct lines lines = { 0 };
	struct flame_options o = { .title = job->path,
				   .subtitles = lines.shown,
				   .icicle = job->o->icicle,
				   .diff = p->base };
	int rc = whole_stacks_one_event(job, "flamegraph.svg", &o.class, err);
	rc = rc ? rc : calltree_build(p->base ? p->parent : p, &how, job->v, &t, err);
	if (rc)
		return rc;
	if (add_lines(job, o.class, &lines))
		return report_no_memory(err);
	o.nr_subtitles = lines.nr;
	return report_result(flame_draw(&t, &o, job->v, out, err), err);
}

static int check(const struct report_job *job, struct err *err)
{
	size_t class;

	return whole_stacks_one_event(job, "flamegraph.svg", &class, err);
}

const struct report report_flamegraph = {
	.name = "flamegraph.svg",
	.names_path = true,
	.doc = "the call tree as a picture: each function above its callers, as wide as "
	       "its samples",
	.needs = PROFILE_STACKS,
	.calls = true,
	.inlines = true,
	.tags = OPTION_TAG(MERGE) | OPTION_TAG(INCLUDE_SYMBOLS) |
		OPTION_TAG(EXCLUDE_SYMBOLS) | OPTION_TAG(DEMANGLE) | OPTION_TAG(WITH) |
		OPTION_TAG(IMAGE_PATH) | OPTION_TAG(ROOT) | OPTION_TAG(DIFF),
	.words = OPTION_WITH(INVERTED) | OPTION_WITH(ICICLE) | OPTION_WITH(INLINES),
	.check = check,
	.render = render_flamegraph,
};
