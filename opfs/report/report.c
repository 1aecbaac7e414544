/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "opfs/profile/change.h"
#include "opfs/report/header.h"

const struct report *report_find(const struct report_set *set, const char *name)
{
	for (size_t i = 0; i < set->nr; i++)
		if (!strcmp(set->all[i]->name, name))
			return set->all[i];
	return NULL;
}

unsigned report_needs(const struct report *r, const struct options *o)
{
	unsigned needs = r->needs | (r->needs_more ? r->needs_more(o) : 0);

	return r->inlines && o->inlines ? needs | PROFILE_INLINES : needs;
}

/* In a comparison, on either side. */
static bool has_samples(const struct profile *p)
{
	for (size_t c = 0; c < p->nr_classes; c++)
		if (p->classes[c].total || p->classes[c].was_total)
			return true;
	return false;
}

/* Had it samples before rows were chosen?  A comparison was made of what was chosen. */
static bool had_samples(const struct profile *p)
{
	do
		p = p->parent;
	while (p && !has_samples(p));
	return p != NULL;
}

bool report_nothing(const struct profile *p, struct strbuf *out)
{
	uint64_t taken = 0, lost = 0, images = 0;

	if (has_samples(p))
		return false;
	if (had_samples(p)) {
		strbuf_puts(out,
			    "no samples: symbol:, include-symbols: and exclude-symbols: "
			    "leave none of those selected\n"
			    "the same file without these tags shows which symbols "
			    "there are; callgraph also those that only call others\n");
		return true;
	}
	for (size_t i = 0; i < p->cat->nr_dirs; i++) {
		taken += p->cat->dirs[i].stats.value[SPEC_STAT_TAKEN];
		lost += spec_stats_lost(&p->cat->dirs[i].stats);
		images += p->cat->dirs[i].stats.value[SPEC_STAT_IGNORED_IMAGE];
	}
	strbuf_printf(out,
		      "no samples yet: 0 selected; the session has %" PRIu64
		      " taken, %" PRIu64 " lost, %zu damaged files (see status)\n",
		      taken, lost, p->cat->nr_bad);
	if (images)
		strbuf_printf(out,
			      "%" PRIu64 " were of other images than the recording's "
			      "--image asked for\n",
			      images);
	strbuf_puts(out, "to get some, record for longer or more often: opcollect record "
			 "-F 10000 -- COMMAND\n");
	return true;
}

static bool sorts_by_debug(const struct view_options *o)
{
	for (size_t i = 0; i < o->nr_sort; i++)
		if (o->sort[i] == VIEW_BY_DEBUG)
			return true;
	return false;
}

int report_view_options(const struct report_job *job, struct view_options *out,
			struct lines **lines, struct err *err)
{
	const struct lines_query q = {
		.p = job->p, .what = LINES_OF_SYMBOLS, .syms = job->syms, .v = job->v
	};
	int rc = 0;

	*out = job->o->view;
	*lines = NULL;
	if (job->o->debug_info || sorts_by_debug(out))
		rc = lines_load(&q, lines, err);
	out->lines = *lines;
	out->show_lines = job->o->debug_info;
	return rc;
}

void report_event(const struct profile_class *c, struct strbuf *out)
{
	escape_text(out, c->event);
	strbuf_printf(out, ":%" PRIu64, c->count);
	if (c->unit_mask)
		strbuf_printf(out, ":0x%02" PRIx64, c->unit_mask);
}

struct build_id report_build_id(const struct profile *p, uint32_t image)
{
	const struct spec_image_row *row = p->cat->images[image].row;
	const struct sym_table *t = p->images[image].table;

	return t ? t->build_id : row ? row->build_id : (struct build_id){ 0 };
}

void report_wholes(const struct profile *p, struct strbuf *out)
{
	for (size_t i = 0; i < p->cat->nr_images; i++) {
		if (!p->images[i].whole)
			continue;
		strbuf_puts(out, "As a whole, since its functions are known on one side "
				 "only (see status of both): ");
		escape_text(out, p->cat->images[i].shown);
		strbuf_putc(out, '\n');
	}
}

static void add_sides(const struct report_job *job, struct strbuf *out)
{
	if (!job->p->base)
		return;
	strbuf_puts(out, "Differences of ");
	escape_text(out, job->path);
	strbuf_puts(out, " to ");
	escape_text(out, job->base_path ? job->base_path : job->p->base->session);
	strbuf_printf(out, " (older); sure: by more than %d standard errors\n",
		      PROFILE_SIGMAS);
}

void report_span(const struct report_job *job, struct strbuf *out)
{
	const struct catalog *cat = job->p->cat;
	struct spec_span all = { UINT64_MAX, 0 };

	if (!job->o->span)
		return;
	for (size_t i = 0; i < cat->nr_dirs; i++) {
		const struct spec_span *s = &cat->dirs[i].when;

		all.from_ns = s->from_ns < all.from_ns ? s->from_ns : all.from_ns;
		all.to_ns = s->to_ns > all.to_ns ? s->to_ns : all.to_ns;
	}
	strbuf_printf(out, "Sessions of %s:", job->o->span_tag);
	escape_text(out, job->o->span->raw);
	strbuf_printf(out, ": %zu, whole, from ", cat->nr_dirs);
	spec_span_show(&all, out);
	strbuf_putc(out, '\n');
}

/* True if something that split: wants as columns was kept apart by the samples. */
static bool is_apart(const struct profile *p, enum spec_axis axis)
{
	for (size_t c = 0; c < p->nr_classes; c++) {
		const struct profile_class *class = &p->classes[c];
		int64_t id = axis == SPEC_AXIS_CPU   ? class->cpu
			     : axis == SPEC_AXIS_TID ? class->tid
						     : class->tgid;

		if (id != SPEC_ALL)
			return true;
	}
	return false;
}

void report_unsplit(const struct report_job *job, struct strbuf *out)
{
	const struct spec_class_rules *rules = &job->o->classes;
	const struct {
		enum spec_axis axis;
		bool asked;
		const char *word, *what, *separate;
	} rows[] = {
		{ SPEC_AXIS_CPU, rules->split_cpu, "cpu", "CPU", "cpu" },
		{ SPEC_AXIS_TGID, rules->split_tgid, "tgid", "process", "thread" },
		{ SPEC_AXIS_TID, rules->split_tid, "tid", "thread", "thread" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].asked && job->p->nr_classes &&
		    !is_apart(job->p, rows[i].axis))
			strbuf_printf(
				out,
				"NOT split:%s: these samples were not kept apart by %s "
				"(opcollect --separate=%s does)\n",
				rows[i].word, rows[i].what, rows[i].separate);
}

void report_header(const struct report_job *job, struct strbuf *out)
{
	header_lines(job->p, out);
	report_unsplit(job, out);
	report_span(job, out);
	add_sides(job, out);
}

int report_done(const struct strbuf *out, struct err *err)
{
	return strbuf_error(out) ? report_no_memory(err) : 0;
}

int report_step(const struct report_job *job, size_t i, struct strbuf *out,
		struct err *err)
{
	if (i % 64)
		return 0;
	if (viewer_gone(job->v))
		return report_interrupted(err);
	strbuf_drain(out);
	return report_done(out, err);
}

int report_no_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "out of memory while making a report");
}

int report_interrupted(struct err *err)
{
	return err_set(err, -EINTR, "interrupted: nobody waits for this any more");
}

int report_result(int rc, struct err *err)
{
	if (rc == -ENOMEM)
		return report_no_memory(err);
	return rc == -EINTR ? report_interrupted(err) : rc;
}
