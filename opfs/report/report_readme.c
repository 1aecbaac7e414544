/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>

#include "base/escape.h"
#include "libspec/spec/spec.h"
#include "opfs/report/report.h"

/*
 * README: what can be asked in a profile directory; made from the tables of files and
 * tags.
 */

static void add_file(const struct report *r, struct strbuf *out)
{
	const char *where = "";

	if (r->session)
		where = " (of a whole session)";
	else if (r->calls)
		where = " (where calls were recorded)";
	else if (r->symbol && !r->more)
		where = " (in directories of symbol:)";
	strbuf_printf(out, "  %-13s %s%s\n", r->name, r->doc, where);
}

static void add_intro(const struct report_job *job, struct strbuf *out)
{
	const struct report_set *set = job->reports;
	const struct profile *p = job->p;
	uint64_t sum = 0;

	for (size_t c = 0; c < p->nr_classes; c++)
		sum += p->classes[c].total;
	strbuf_puts(out,
		    "This directory is a profile specification; its files show the ");
	strbuf_printf(out, "%" PRIu64 " samples that it\nselects in session ", sum);
	escape_text(out, p->session);
	strbuf_puts(out, ".\n\nFiles:\n");
	for (size_t i = 0; i < set->nr; i++)
		if (!set->all[i]->more)
			add_file(set->all[i], out);
	strbuf_puts(out, "\nFiles that take longer, listed in more:\n");
	for (size_t i = 0; i < set->nr; i++)
		if (set->all[i]->more)
			add_file(set->all[i], out);
}

/* The words that a tag takes. */
static void add_words(const struct spec_tag *tag, struct strbuf *out)
{
	for (size_t i = 0; i < SPEC_NR_WORDS; i++)
		if (spec_words[i].tag == tag->id)
			strbuf_printf(out, "    %-18s %s\n", spec_words[i].name,
				      spec_words[i].doc);
}

static void add_tags(struct strbuf *out)
{
	strbuf_puts(
		out,
		"\nA component TAG:VALUE refines the selection; any tag may follow any "
		"other, and\nTAG: alone lists the values that there are.  Tags:\n");
	for (size_t i = 0; i < SPEC_NR_TAGS; i++) {
		if (i == SPEC_MERGE)
			strbuf_puts(out,
				    "\nTags that say how to show samples, and select "
				    "none:\n");
		if (spec_tags[i].name[0])
			strbuf_printf(out, "  %-18s %s\n", spec_tags[i].name,
				      spec_tags[i].doc);
		if (i == SPEC_WITH)
			add_words(&spec_tags[i], out);
	}
	strbuf_puts(
		out,
		"\nA value may be a list (a,b), for images also a pattern (*, ?, []).  "
		"A comma that\nbelongs to a name is \\, and %XX is any byte as it is.  A "
		"name without a tag means\nthe application or image of that name.  "
		"A file that cannot do what tags ask of it is\nnot listed; opening it "
		"fails, and the file status of the root says why.\n");
}

static const struct profile_pair *largest(const struct profile *p)
{
	const struct profile_pair *best = NULL;

	for (size_t i = 0; i < p->nr_pairs; i++)
		if (!best || p->pairs[i].samples[0] > best->samples[0])
			best = &p->pairs[i];
	return best;
}

static void add_examples(const struct profile *p, struct strbuf *out)
{
	const struct profile_pair *pair = largest(p);

	strbuf_puts(out, "\nExamples:\n");
	if (p->nr_classes) {
		strbuf_puts(out, "  cat 'event:");
		escape_text(out, p->classes[0].event);
		strbuf_puts(out, "/summary'\n");
	}
	if (pair) {
		strbuf_puts(out, "  cat 'image:");
		escape_text(out, p->cat->images[pair->app].shown);
		strbuf_puts(out, "/report'\n");
	}
	strbuf_puts(out, "  ls -lS image:\n"
			 "  awk -F'\\t' '$6 > 5' report.tsv\n"
			 "  grep -E '^(lost|unresolved|damaged):' status\n");
}

static int render_readme(const struct report_job *job, struct strbuf *out,
			 struct err *err)
{
	add_intro(job, out);
	add_tags(out);
	add_examples(job->p, out);
	return report_done(out, err);
}

const struct report report_readme = {
	.name = "README",
	.doc = "what can be asked here",
	.needs = PROFILE_PAIRS,
	.tags = UINT64_MAX,
	.words = UINT64_MAX,
	.render = render_readme,
};
