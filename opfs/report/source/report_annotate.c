/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "opfs/report/report.h"
#include "opfs/report/source/annotate.h"
#include "opfs/report/source/sources.h"

/* A directory of annotated source files, by their paths: opannotate --source. */

static int entries(const struct report_job *job, struct names *out, struct err *err)
{
	CLEANUP(sources_putp) struct sources *s = NULL;
	int rc = sources_get(job, &s, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < s->nr_files && !rc; i++)
		if (sources_wants(s, job->o, &s->files[i]))
			rc = names_add(out, s->files[i].entry);
	if (!rc && s->rest_entry)
		rc = names_add(out, s->rest_entry);
	if (rc)
		return report_no_memory(err);
	names_sort(out);
	return 0;
}

/* Reports samples that no source file shows, and why. */
static void render_rest(const struct report_job *job, const struct sources *s,
			struct strbuf *out)
{
	strbuf_puts(out, "/* Samples without a source line */\n");
	for (size_t i = 0; i < s->nr_rests; i++) {
		const struct source_rest *r = &s->rests[i];

		annotate_prefix(s, r->samples, out);
		escape_text(out, job->p->cat->images[r->image].shown);
		strbuf_puts(out, " /* ");
		annotate_text(r->reason, out);
		strbuf_puts(out, " */\n");
	}
}

static int render_file(const struct report_job *job, const struct sources *s,
		       const struct source_file *f, struct strbuf *out, struct err *err)
{
	static const struct annotate_part all = { 0 };
	CLEANUP(sym_text_freep) struct sym_text *text = NULL;
	int rc = annotate_open(job, f->name, &text, err);

	rc = rc ? rc : annotate_file(job, s, f, text, &all, out, err);
	if (!rc)
		annotate_total(job, s, f, text, out);
	return rc;
}

static int render_annotate(const struct report_job *job, struct strbuf *out,
			   struct err *err)
{
	CLEANUP(sources_putp) struct sources *s = NULL;
	const struct source_file *f;
	int rc = sources_get(job, &s, err);

	if (rc)
		return rc;
	f = sources_find(s, job->entry);
	if (f && sources_wants(s, job->o, f))
		rc = render_file(job, s, f, out, err);
	else if (s->rest_entry && !strcmp(job->entry, s->rest_entry))
		render_rest(job, s, out);
	else
		return err_set(err, -ENOENT, "no source file with samples is called so");
	if (rc)
		return rc;
	annotate_about(job, "annotate", out);
	return report_done(out, err);
}

const struct report report_annotate = {
	.name = "annotate",
	.doc = "source files with samples beside each line, as opannotate --source",
	.names_path = true,
	.needs = PROFILE_HITS,
	.more = true,
	.tags = REPORT_TAGS_ROWS | OPTION_TAG(SEARCH_DIRS) | OPTION_TAG(BASE_DIRS) |
		OPTION_TAG(INCLUDE_FILE) | OPTION_TAG(EXCLUDE_FILE),
	.words = OPTION_WITH(EXCLUDE_DEPENDENT) | OPTION_WITH(INLINES),
	.outside = annotate_always,
	.check = annotate_check,
	.render = render_annotate,
	.entries = entries,
};
