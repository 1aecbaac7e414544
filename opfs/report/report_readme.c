/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>

#include "base/escape.h"
#include "opfs/report/report.h"

/* README: what can be done in a profile directory, in twenty lines. */

static uint64_t sum_of(const struct profile *p)
{
	uint64_t sum = 0;

	for (size_t c = 0; c < p->nr_classes; c++)
		sum += p->classes[c].total;
	return sum;
}

static void add_selected(const struct report_job *job, struct strbuf *out)
{
	uint64_t all = job->p->cat->total, sum = sum_of(job->p);

	strbuf_printf(out, "%" PRIu64 " of %" PRIu64 " samples", sum, all);
	if (all)
		strbuf_printf(out, " (%.2f %%)", 100.0 * (double)sum / (double)all);
	strbuf_puts(out, " of session ");
	escape_text(out, job->p->session);
	strbuf_puts(out, "\n\n");
}

static void add_files(const struct profile *p, struct strbuf *out)
{
	strbuf_puts(out,
		    "  cat report          by function, the hottest first; report.tsv "
		    "for awk\n"
		    "  cat summary         by program, and in it by library\n"
		    "  cat details         by address\n");
	if (p->cat->nr_stacks)
		strbuf_puts(out, "  cat calltree        who called whom; flamegraph.svg "
				 "for a browser\n");
	strbuf_puts(out, "  cat status          what was lost or has no name, and why\n"
			 "  ls more:            slower: sources, assembly, files for "
			 "other tools\n");
}

static const struct profile_pair *largest(const struct profile *p)
{
	const struct profile_pair *best = NULL;

	for (size_t i = 0; i < p->nr_pairs; i++)
		if (!best || p->pairs[i].samples[0] > best->samples[0])
			best = &p->pairs[i];
	return best;
}

/* "cat TAG:NAME/report" with the name of an image as it is listed. */
static void add_example(const struct profile *p, const char *tag, uint32_t image,
			const char *file, struct strbuf *out)
{
	const char *name = p->cat->images[image].listed;

	strbuf_printf(out, "  cat '%s:", tag);
	escape_text(out, name ? name : p->cat->images[image].shown);
	strbuf_printf(out, "/%s'\n", file);
}

static void add_tags(const struct profile *p, struct strbuf *out)
{
	const struct profile_pair *pair = largest(p);

	strbuf_puts(out, "\nGo on with TAG:VALUE, in any order.  TAG: lists the values "
			 "there are, and their\nsizes are their samples:\n"
			 "  ls -lS image: lib-image: symbol:\n");
	if (p->nr_classes) {
		strbuf_puts(out, "  cat 'event:");
		escape_text(out, p->classes[0].event);
		strbuf_puts(out, "/summary'\n");
	}
	if (pair) {
		add_example(p, "image", pair->app, "report", out);
		add_example(p, "lib-image", pair->image, "report", out);
	}
}

static int render_readme(const struct report_job *job, struct strbuf *out,
			 struct err *err)
{
	add_selected(job, out);
	add_files(job->p, out);
	add_tags(job->p, out);
	strbuf_puts(out,
		    "\nOther tags show it in another way: threshold:1/report, "
		    "sort:vma/report,\nwith:accumulated/report, diff:SESSION/report.\n\n"
		    "A path that selects nothing does not exist: \"opfs why PATH\" says "
		    "why.  All files and\ntags are told in the README on top of the "
		    "mount, and in opfs(5).\n");
	return report_done(out, err);
}

const struct report report_readme = {
	.name = "README",
	.doc = "what can be done here",
	.needs = PROFILE_PAIRS,
	.basic = true,
	.tags = UINT64_MAX,
	.words = UINT64_MAX,
	.render = render_readme,
};
