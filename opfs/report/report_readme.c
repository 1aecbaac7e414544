/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
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

enum { COLUMNS = 79 };

/* The end of @text, if all of it is wider than @most columns. */
static void add_end(const char *text, size_t most, struct strbuf *out)
{
	size_t len = strlen(text);
	const char *end = text;

	if (len > most) {
		end = text + len - most + strlen("...");
		while ((*end & 0xc0) == 0x80) /* within a character of UTF-8 */
			end++;
		strbuf_puts(out, "...");
	}
	strbuf_puts(out, end);
}

static void add_selected(const struct report_job *job, struct strbuf *out)
{
	uint64_t all = job->p->cat->total, sum = sum_of(job->p);
	CLEANUP(strbuf_fini) struct strbuf session = { 0 };
	size_t before = out->len;

	strbuf_printf(out, "%" PRIu64 " of %" PRIu64 " samples", sum, all);
	if (all)
		strbuf_printf(out, " (%.2f %%)", 100.0 * (double)sum / (double)all);
	strbuf_puts(out, " of session ");
	escape_text(&session, job->p->session);
	if (out->len - before + session.len > COLUMNS)
		strbuf_putc(out, '\n');
	add_end(strbuf_str(&session), COLUMNS, out);
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

/* The one with most samples; @other: of those whose image is not their application. */
static const struct profile_pair *largest(const struct profile *p, bool other)
{
	const struct profile_pair *best = NULL;

	for (size_t i = 0; i < p->nr_pairs; i++) {
		const struct profile_pair *pair = &p->pairs[i];

		if (other && pair->image == pair->app)
			continue;
		if (!best || pair->samples[0] > best->samples[0])
			best = pair;
	}
	return best;
}

/* "cat TAG:NAME/file", unless that is wider than a terminal. */
static void add_example(const char *tag, const char *name, const char *file,
			struct strbuf *out)
{
	CLEANUP(strbuf_fini) struct strbuf line = { 0 };

	strbuf_printf(&line, "  cat '%s:", tag);
	escape_text(&line, name);
	strbuf_printf(&line, "/%s'", file);
	if (line.len <= COLUMNS)
		strbuf_printf(out, "%s\n", strbuf_str(&line));
}

/* Of an image, as it is listed. */
static void add_image(const struct profile *p, const char *tag, uint32_t image,
		      struct strbuf *out)
{
	const char *name = p->cat->images[image].listed;

	add_example(tag, name ? name : p->cat->images[image].shown, "report", out);
}

static void add_tags(const struct profile *p, struct strbuf *out)
{
	const struct profile_pair *pair = largest(p, false), *other = largest(p, true);

	strbuf_puts(out, "\nGo on with TAG:VALUE, in any order.  TAG: lists the values "
			 "there are;\ntheir sizes are their samples:\n"
			 "  ls -lS image: lib-image: symbol:\n");
	if (p->nr_classes)
		add_example("event", p->classes[0].event, "summary", out);
	if (pair) {
		add_image(p, "image", pair->app, out);
		add_image(p, "lib-image", (other ? other : pair)->image, out);
	}
}

static int render_readme(const struct report_job *job, struct strbuf *out,
			 struct err *err)
{
	add_selected(job, out);
	add_files(job->p, out);
	add_tags(job->p, out);
	strbuf_puts(
		out,
		"\nOther tags show it in another way: threshold:1/report, "
		"sort:vma/report,\nwith:accumulated/report, diff:SESSION/report.\n\n"
		"A path that selects nothing does not exist: \"opfs why PATH\" says "
		"why.\nAll files and tags are told in the README on top of the mount, "
		"and in opfs(5).\n");
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
