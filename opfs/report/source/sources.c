/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/source/sources.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cache.h"
#include "base/cleanup.h"
#include "base/percent.h"
#include "libspec/name/glob.h"
#include "opfs/report/source/entries.h"
#include "opfs/report/source/sums.h"

/* ---- from sums to files */

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_sums(const void *x, const void *y)
{
	const struct sum *a = x, *b = y;
	int order = compare_numbers(a->file, b->file);

	return order ? order : compare_numbers(a->line, b->line);
}

/* Within a line: most samples first. */
static int compare_calls(const void *x, const void *y, void *ctx)
{
	const struct sum *a = x, *b = y;
	const struct source_sums *build = ctx;
	int order = compare_sums(a, b);

	if (!order && build->nr)
		order = compare_numbers(build->s->counts[b->at], build->s->counts[a->at]);
	return order ? order
		     : strcmp(build->names.data[a->name], build->names.data[b->name]);
}

static int compare_symbols(const void *x, const void *y, void *ctx)
{
	const struct source_symbol *a = x, *b = y;
	const struct source_sums *build = ctx;
	int order = compare_numbers(a->file, b->file);

	if (!order)
		order = compare_numbers(a->line, b->line);
	if (!order && build->nr)
		order = compare_numbers(b->samples[0], a->samples[0]);
	return order ? order : strcmp(a->name, b->name);
}

static int share_lines(struct source_sums *b)
{
	struct sources *s = b->s;
	struct source_line *lines =
		arena_calloc(&s->arena, b->sums.len + 1, sizeof(*lines));

	if (!lines)
		return -ENOMEM;
	if (b->sums.len)
		qsort(b->sums.data, b->sums.len, sizeof(*b->sums.data), compare_sums);
	for (size_t i = 0; i < b->sums.len; i++) {
		const struct sum *sum = &b->sums.data[i];
		struct source_file *f = &s->files[sum->file];

		lines[i] = (struct source_line){ sum->line, s->counts + sum->at };
		if (!f->nr_lines++)
			f->lines = &lines[i];
		for (size_t c = 0; c < b->nr; c++)
			f->samples[c] += lines[i].samples[c];
	}
	return 0;
}

static int share_calls(struct source_sums *b)
{
	struct sources *s = b->s;
	struct source_call *calls =
		arena_calloc(&s->arena, b->calls.len + 1, sizeof(*calls));

	if (!calls)
		return -ENOMEM;
	if (b->calls.len)
		qsort_r(b->calls.data, b->calls.len, sizeof(*b->calls.data),
			compare_calls, b);
	for (size_t i = 0; i < b->calls.len; i++) {
		const struct sum *sum = &b->calls.data[i];
		struct source_file *f = &s->files[sum->file];

		calls[i].line = sum->line;
		calls[i].name =
			s->names ? s->names->name[sum->name] : b->names.data[sum->name];
		calls[i].samples = s->counts + sum->at;
		if (!f->nr_calls++)
			f->calls = &calls[i];
	}
	return 0;
}

static int share_symbols(struct source_sums *b)
{
	struct sources *s = b->s;
	size_t nr = b->symbols.len;
	struct source_symbol *symbols;

	if (nr)
		qsort_r(b->symbols.data, nr, sizeof(*symbols), compare_symbols, b);
	symbols = (void *)arena_memdup(&s->arena, b->symbols.data, nr * sizeof(*symbols));
	if (!symbols)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		struct source_file *f = &s->files[symbols[i].file];

		if (!f->nr_symbols++)
			f->symbols = &symbols[i];
	}
	return 0;
}

static int share_files(struct source_sums *b)
{
	struct sources *s = b->s;

	s->nr_files = b->files.len;
	s->files = (void *)arena_memdup(&s->arena, b->files.data,
					s->nr_files * sizeof(*s->files));
	if (!s->files)
		return -ENOMEM;
	for (size_t i = 0; i < s->nr_files; i++) {
		s->files[i].samples =
			arena_calloc(&s->arena, b->nr + 1, sizeof(uint64_t));
		if (!s->files[i].samples)
			return -ENOMEM;
	}
	s->counts = TAKE(b->counts).data;
	return share_lines(b) || share_calls(b) || share_symbols(b) ? -ENOMEM : 0;
}

/* ---- samples of no file */

static bool any(const uint64_t *samples, size_t nr)
{
	for (size_t c = 0; c < nr; c++)
		if (samples[c])
			return true;
	return false;
}

static int compare_rests(const void *x, const void *y, void *ctx)
{
	const struct source_rest *a = x, *b = y;
	const struct source_sums *build = ctx;
	int order = build->nr ? compare_numbers(b->samples[0], a->samples[0]) : 0;

	return order ? order : compare_numbers(a->image, b->image);
}

static int share_rest(struct source_sums *b)
{
	struct sources *s = b->s;
	size_t nr_images = b->p->cat->nr_images;

	s->rests = arena_calloc(&s->arena, nr_images + 1, sizeof(*s->rests));
	if (!s->rests)
		return -ENOMEM;
	for (size_t i = 0; i < nr_images; i++) {
		struct source_rest *r = &s->rests[s->nr_rests];
		const char *why = lines_reason(b->lines, (uint32_t)i);

		if (!any(b->rest + i * b->nr, b->nr))
			continue;
		r->image = (uint32_t)i;
		r->reason = arena_strdup(&s->arena,
					 why ? why : "code without line information");
		r->samples = (void *)arena_memdup(&s->arena, b->rest + i * b->nr,
						  b->nr * sizeof(uint64_t));
		if (!r->reason || !r->samples)
			return -ENOMEM;
		s->nr_rests++;
	}
	qsort_r(s->rests, s->nr_rests, sizeof(*s->rests), compare_rests, b);
	return 0;
}

/* ---- the whole */

static int demangle(struct source_sums *b)
{
	const struct report_job *job = b->job;
	int rc;

	if (!b->names.len || job->o->demangle == SYM_DEMANGLE_NONE)
		return 0;
	rc = sym_server_demangle(sym_cache_server(job->syms), b->names.data, b->names.len,
				 job->o->demangle, job->v, &b->s->names, NULL);
	return rc == -EINTR || rc == -ENOMEM ? rc : 0;
}

static int begin(struct source_sums *b)
{
	const struct report_job *job = b->job;
	const struct lines_query q = {
		.p = job->p,
		.what = LINES_OF_HITS,
		.flags = job->o->inlines ? SYM_LINES_INLINES : 0,
		.syms = job->syms,
		.v = job->v,
	};
	size_t nr_images = job->p->cat->nr_images;

	b->rest = calloc(nr_images * b->nr + 1, sizeof(*b->rest));
	b->run = calloc(b->nr + 1, sizeof(*b->run));
	if (!b->s || !b->rest || !b->run)
		return -ENOMEM;
	b->s->refs = 1;
	b->s->nr_classes = b->nr;
	b->s->totals = arena_calloc(&b->s->arena, b->nr + 1, sizeof(uint64_t));
	return b->s->totals ? lines_load(&q, &b->lines, NULL) : -ENOMEM;
}

static int build(struct source_sums *b)
{
	int rc = begin(b);

	rc = rc ? rc : source_sums_add(b);
	rc = rc ? rc : demangle(b);
	rc = rc ? rc : share_files(b);
	rc = rc ? rc : share_rest(b);
	return rc ? rc : sources_name(b->s);
}

static int make(void *ctx, const struct viewer *v, void **obj, size_t *bytes,
		struct err *err)
{
	const struct report_job *job = ctx;
	CLEANUP(sources_putp) struct sources *s = calloc(1, sizeof(*s));
	CLEANUP(source_sums_fini)
	struct source_sums b = {
		.job = job, .p = job->p, .s = s, .err = err, .nr = job->p->nr_classes
	};
	size_t nr_counts;
	int rc = build(&b);

	(void)v;
	if (rc == -EINTR)
		return report_interrupted(err);
	if (rc)
		return report_no_memory(err);
	nr_counts = (b.sums.len + b.calls.len) * b.nr;
	*bytes = s->arena.total + nr_counts * sizeof(uint64_t);
	*obj = TAKE(s);
	return 0;
}

static void *kind_get(void *obj)
{
	struct sources *s = obj;

	__atomic_add_fetch(&s->refs, 1, __ATOMIC_RELAXED);
	return s;
}

static void kind_put(void *obj)
{
	sources_put(obj);
}

static const struct cache_kind sources_kind = { .get = kind_get, .put = kind_put };

int sources_get(const struct report_job *job, struct sources **out, struct err *err)
{
	struct cache *made = profile_made(job->p);
	void *obj;
	int rc;

	if (!made)
		return report_no_memory(err);
	/* A path identifies one choice of rows and of options. */
	rc = cache_get(made, &sources_kind, job->path, strlen(job->path), make,
		       (void *)job, job->v, &obj, err);
	if (!rc)
		*out = obj;
	return rc;
}

void sources_put(struct sources *s)
{
	if (!s || __atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	free(s->counts);
	free(s->names);
	arena_fini(&s->arena);
	free(s);
}

/* ---- questions */

const struct source_file *sources_find(const struct sources *s, const char *entry)
{
	size_t lo = 0, hi = s->nr_files;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int order = strcmp(s->files[mid].entry, entry);

		if (!order)
			return &s->files[mid];
		if (order < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

static bool matches(const struct spec_item *item, const char *name)
{
	if (item->all || spec_glob(item->pattern, name))
		return true;
	for (size_t len; *name; name += len) {
		name += strspn(name, "/");
		len = strcspn(name, "/");
		if (len && spec_glob_n(item->pattern, name, len))
			return true;
	}
	return false;
}

/* Patterns are compared with the path, and with every part of it. */
static bool listed(const struct spec_value *v, const char *name)
{
	for (size_t i = 0; i < v->items.nr; i++)
		if (matches(&v->items.items[i], name))
			return true;
	return false;
}

static bool reaches(const struct sources *s, const struct source_file *f, double percent)
{
	if (percent <= 0)
		return f->nr_lines || f->nr_calls;
	return percent_reached(f->samples, s->totals, s->nr_classes, percent);
}

bool sources_wants(const struct sources *s, const struct options *o,
		   const struct source_file *f)
{
	if (!reaches(s, f, o->view.threshold))
		return false;
	if (o->exclude_file && listed(o->exclude_file, f->name))
		return false;
	return !o->include_file || listed(o->include_file, f->name);
}
