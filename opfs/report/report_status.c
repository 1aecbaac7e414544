/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/percent.h"
#include "opfs/profile/lines.h"
#include "opfs/report/header.h"
#include "opfs/report/packages.h"
#include "opfs/report/report.h"

/* "key: value" lines.  Keys never change, so that scripts can grep for them. */

enum { FEW_SAMPLES = 100 };

static uint64_t selected_samples(const struct profile *p)
{
	uint64_t sum = 0;

	for (size_t c = 0; c < p->nr_classes; c++)
		sum += p->classes[c].total;
	return sum;
}

static void add_share(uint64_t part, uint64_t whole, struct strbuf *out)
{
	strbuf_printf(out, "%" PRIu64 " (%.4g %%)", part, percent_of(part, whole));
}

/* ---- the selection */

static void add_event(const struct profile_class *c, struct strbuf *out)
{
	const char *doc = header_event_doc(c->header->cpu_type, c->event);

	strbuf_puts(out, "event: ");
	escape_text(out, c->event);
	strbuf_printf(out,
		      " count %" PRIu64 " unit-mask 0x%02" PRIx64 ": %" PRIu64 " samples",
		      c->count, c->unit_mask, c->total);
	if (doc)
		strbuf_printf(out, ": %s", doc);
	strbuf_putc(out, '\n');
}

static void add_selection(const struct profile *p, struct strbuf *out)
{
	uint64_t samples = selected_samples(p);
	bool timer = false;

	if (p->nr_classes) {
		strbuf_puts(out, "cpu: ");
		header_cpu(p, out);
		strbuf_putc(out, '\n');
	}
	for (size_t c = 0; c < p->nr_classes; c++) {
		add_event(&p->classes[c], out);
		timer = timer || p->classes[c].header->cpu_type == HEADER_CPU_TIMER;
	}
	strbuf_printf(out, "samples: %" PRIu64 "\nfiles: %zu\n", samples, p->nr_selected);
	if (timer)
		strbuf_puts(out,
			    "note: samples were taken by a timer: code that runs with "
			    "interrupts off is not seen where it runs\n");
	if (samples < FEW_SAMPLES)
		strbuf_printf(out,
			      "note: few samples (%" PRIu64
			      "): shares are coarse; record "
			      "for longer, or more often with -F or a lower count\n",
			      samples);
}

/* ---- its sessions */

static void add_time(uint64_t ns, struct strbuf *out)
{
	time_t seconds = (time_t)(ns / 1000000000u);
	char text[64];
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) || !strftime(text, sizeof(text), "%FT%T", &tm)) {
		strbuf_puts(out, "unknown\n");
		return;
	}
	strbuf_printf(out, "%s.%03uZ\n", text, (unsigned)(ns / 1000000u % 1000u));
}

static void add_figures(const struct spec_stats *s, struct strbuf *out)
{
	uint64_t taken = s->value[SPEC_STAT_TAKEN];

	if (taken)
		strbuf_printf(out, "taken: %" PRIu64 "\n", taken);
	if (s->value[SPEC_STAT_STORED])
		strbuf_printf(out, "stored: %" PRIu64 "\n", s->value[SPEC_STAT_STORED]);
	strbuf_puts(out, "lost: ");
	add_share(spec_stats_lost(s), taken, out);
	strbuf_putc(out, '\n');
	for (int i = 0; i < SPEC_NR_STATS; i++) {
		if (i == SPEC_STAT_TAKEN || i == SPEC_STAT_STORED || !s->value[i])
			continue;
		strbuf_printf(out, "%s: ", spec_stat_info[i].name);
		if (spec_stat_info[i].kind == SPEC_STAT_KIND_FIGURE)
			strbuf_printf(out, "%" PRIu64, s->value[i]);
		else
			add_share(s->value[i],
				  spec_stat_info[i].kind == SPEC_STAT_KIND_PART
					  ? s->value[SPEC_STAT_STORED]
					  : taken,
				  out);
		strbuf_printf(out, ": %s\n", spec_stat_info[i].doc);
	}
}

static void add_line(const char *key, const char *value, struct strbuf *out)
{
	strbuf_printf(out, "%s: ", key);
	escape_text(out, value);
	strbuf_putc(out, '\n');
}

static void add_session(const struct catalog_dir *d, struct strbuf *out)
{
	add_line("session", d->session, out);
	if (d->when.from_ns) {
		strbuf_puts(out, "started: ");
		add_time(d->when.from_ns, out);
	}
	if (d->has_live) {
		strbuf_printf(out, "state: %s\ngeneration: %" PRIu64 "\ndrained: ",
			      d->live.closed ? "closed" : "being recorded",
			      d->live.generation);
		add_time(d->live.drained_ns, out);
	}
	add_figures(&d->stats, out);
	for (size_t i = 0; i < d->nr_throttled; i++)
		add_line("throttled", d->throttled[i], out);
	if (d->nr_throttled)
		strbuf_puts(out,
			    "note: the kernel took fewer samples than asked for of the "
			    "throttled events: use a higher count or a lower -F\n");
	for (size_t i = 0; i < d->nr_notes; i++)
		add_line("note", d->notes[i], out);
}

/* ---- what could not be read or told apart */

/*
 * The reason without the path at its beginning or end, since the path was printed
 * already.
 */
static const char *bare_reason(const char *path, const char *reason)
{
	const char *at = path;

	while (at) {
		size_t len = strlen(at);

		if (len && !strncmp(reason, at, len) && !strncmp(reason + len, ": ", 2))
			return reason + len + 2;
		at = strchr(at, '/');
		at = at ? at + 1 : NULL;
	}
	return reason;
}

static void add_damaged(const struct catalog_bad *bad, size_t nr, struct strbuf *out)
{
	for (size_t i = 0; i < nr; i++) {
		strbuf_puts(out, "damaged: ");
		escape_text(out, bad[i].path);
		strbuf_puts(out, ": ");
		escape_text(out, bare_reason(bad[i].path, bad[i].reason));
		strbuf_putc(out, '\n');
	}
}

static void count_images(const struct profile *p, uint64_t *samples, uint64_t *outside)
{
	for (size_t i = 0; i < p->nr_rows; i++) {
		const struct profile_row *row = &p->rows[i];

		for (size_t c = 0; c < p->nr_classes; c++) {
			samples[row->image] += row->samples[c];
			if (row->kind == PROFILE_ROW_NONE)
				outside[row->image] += row->samples[c];
		}
	}
}

static void add_image(const struct profile *p, uint32_t image, const char *key,
		      uint64_t samples, uint64_t total, const char *reason,
		      struct strbuf *out)
{
	strbuf_printf(out, "%s: ", key);
	escape_text(out, p->cat->images[image].shown);
	strbuf_puts(out, ": ");
	add_share(samples, total, out);
	strbuf_puts(out, ": ");
	escape_text(out, bare_reason(p->cat->images[image].shown, reason));
	strbuf_putc(out, '\n');
}

enum { MAX_OWNERS = 64 }; /* of images that are looked for in lists of packages */

/* ---- images, grouped by what is said about them */

struct share {
	uint32_t image;
	uint64_t samples;
	const struct package_owner *owner; /* NULL: debug symbols would not help */
};

/* Where the debug symbols of an image would be, and how to get them. */
static void add_wanted(const struct share *s, const struct build_id *id,
		       struct strbuf *out)
{
	char hex[BUILD_ID_TEXT];
	size_t before;

	build_id_format(id, hex);
	if (!s->owner || !hex[0])
		return;
	strbuf_truncate(out, out->len - 1); /* the end of the line */
	strbuf_puts(out, "; ");
	before = out->len;
	packages_advice(s->owner, file_is_dir("/var/lib/rpm"), out);
	strbuf_puts(out, out->len > before ? ", or " : "or ");
	strbuf_printf(out,
		      "opfs fetch %s; looked for as /usr/lib/debug/.build-id/%.2s/"
		      "%s.debug\n",
		      hex, hex, hex + 2);
}

/* Where only exported names are known, how to get the others. */
static void add_outside(const struct profile *p, const struct share *s, uint64_t total,
			struct strbuf *out)
{
	const struct sym_table *t = p->images[s->image].table;
	char id[BUILD_ID_TEXT], reason[256];

	build_id_format(&t->build_id, id);
	snprintf(reason, sizeof(reason), "samples outside every symbol of the image");
	if (t->source == SYM_FROM_DYNSYM || t->source == SYM_FROM_MINIDEBUG)
		snprintf(reason, sizeof(reason),
			 "outside every symbol: it has only exported names; install its "
			 "debug symbols%s%s%s",
			 id[0] ? " (build-id " : "", id, id[0] ? ")" : "");
	add_image(p, s->image, "no-symbol", s->samples, total, reason, out);
	add_wanted(s, &t->build_id, out);
}

static void add_unresolved(const struct profile *p, const struct share *s, uint64_t total,
			   struct strbuf *out)
{
	const struct profile_image *img = &p->images[s->image];

	if (!sym_usable(img->state))
		add_image(p, s->image, "unresolved", s->samples, total,
			  img->reason ? img->reason : sym_state_name(img->state), out);
	if (!sym_usable(img->state)) {
		const struct build_id id = report_build_id(p, s->image);

		add_wanted(s, &id, out);
	}
}

static void add_remark(const struct profile *p, const struct share *s, uint64_t total,
		       struct strbuf *out)
{
	const struct profile_image *img = &p->images[s->image];

	if (sym_usable(img->state) && img->reason)
		add_image(p, s->image,
			  img->state == SYM_UNCHECKED ? "unchecked" : "remark",
			  s->samples, total, img->reason, out);
}

static void add_source(const struct profile *p, const struct share *s, uint64_t total,
		       struct strbuf *out)
{
	const struct profile_image *img = &p->images[s->image];

	if (sym_usable(img->state))
		add_image(p, s->image, "symbols-from", s->samples, total,
			  sym_source_name(img->table->source), out);
}

/* With with:inlines, whose inlined functions are not known, or not all of them. */
static void add_no_inlines(const struct profile *p, const struct share *s, uint64_t total,
			   struct strbuf *out)
{
	const struct sym_lines *l = p->inlines ? lines_image(p->inlines, s->image) : NULL;
	const char *why = p->inlines ? lines_reason(p->inlines, s->image) : NULL;

	if (!why && l && *l->reason)
		why = l->reason;
	if (why && p->images[s->image].table)
		add_image(p, s->image, "no-inlines", s->samples, total, why, out);
}

static int compare_shares(const void *x, const void *y)
{
	const struct share *a = x, *b = y;

	if (a->samples != b->samples)
		return a->samples < b->samples ? 1 : -1;
	return (a->image > b->image) - (a->image < b->image);
}

/* Would debug symbols of a file that is here help? */
static bool lacks_symbols(const struct profile_image *img)
{
	if (!img->used || !img->has_job || img->job.at || !img->job.path)
		return false;
	if (img->state == SYM_NO_SYMBOLS)
		return true;
	return img->table && (img->table->source == SYM_FROM_DYNSYM ||
			      img->table->source == SYM_FROM_MINIDEBUG);
}

/* Of each image the package that owns it, or would; those of another root are not asked
 * for.  free() */
static struct package_owner *find_owners(const struct report_job *job,
					 const uint64_t *samples)
{
	const struct profile *p = job->p;
	struct package_owner *all = calloc(p->cat->nr_images + 1, sizeof(*all));
	size_t nr = 0;

	for (uint32_t i = 0; all && i < p->cat->nr_images && nr < MAX_OWNERS; i++)
		if (samples[i] && lacks_symbols(&p->images[i]) && ++nr)
			all[i].path = p->images[i].job.path;
	if (all && nr && !job->o->root)
		packages_find("/var/lib/dpkg/info", all, p->cat->nr_images);
	return all;
}

static int add_images(const struct report_job *job, const uint64_t *samples,
		      const uint64_t *outside, struct strbuf *out)
{
	static const struct {
		void (*add)(const struct profile *p, const struct share *s,
			    uint64_t total, struct strbuf *out);
		bool outside; /* sorted by their samples outside every symbol */
	} groups[] = {
		{ add_unresolved, false }, { add_remark, false }, { add_outside, true },
		{ add_no_inlines, false }, { add_source, false },
	};
	CLEANUP(free_ptr)
	struct share *shares = calloc(job->p->cat->nr_images + 1, sizeof(*shares));
	CLEANUP(free_ptr) struct package_owner *owners = find_owners(job, samples);
	const struct profile *p = job->p;
	uint64_t total = selected_samples(p);

	if (!shares || !owners)
		return -ENOMEM;
	for (size_t g = 0; g < sizeof(groups) / sizeof(groups[0]); g++) {
		const uint64_t *by = groups[g].outside ? outside : samples;
		size_t nr = 0;

		for (uint32_t i = 0; i < p->cat->nr_images; i++)
			if (p->images[i].used && by[i])
				shares[nr++] = (struct share){ i, by[i],
							       owners[i].path ? &owners[i]
									      : NULL };
		qsort(shares, nr, sizeof(*shares), compare_shares);
		for (size_t i = 0; i < nr; i++)
			groups[g].add(p, &shares[i], total, out);
	}
	return 0;
}

static int render_status(const struct report_job *job, struct strbuf *out,
			 struct err *err)
{
	CLEANUP(free_ptr) uint64_t *samples = NULL;
	CLEANUP(free_ptr) uint64_t *outside = NULL;
	const struct profile *p = job->p;

	if (viewer_gone(job->v))
		return report_interrupted(err);
	samples = calloc(p->cat->nr_images + 1, sizeof(*samples));
	outside = calloc(p->cat->nr_images + 1, sizeof(*outside));
	if (!samples || !outside)
		return report_no_memory(err);
	add_selection(p, out);
	if (job->o->span) {
		strbuf_puts(out, "span: ");
		report_span(job, out);
	}
	for (size_t i = 0; i < p->cat->nr_dirs; i++)
		add_session(&p->cat->dirs[i], out);
	add_damaged(p->cat->bad, p->cat->nr_bad, out);
	add_damaged(p->bad, p->nr_bad, out);
	count_images(p, samples, outside);
	if (add_images(job, samples, outside, out))
		return report_no_memory(err);
	return report_done(out, err);
}

const struct report report_status = {
	.name = "status",
	.doc = "CPU, events, losses, damaged files, images without symbols and why",
	.tells_losses = true,
	.needs = PROFILE_SYMBOLS,
	.inlines = true,
	.tags = UINT64_MAX,
	.words = UINT64_MAX,
	.render = render_status,
};
