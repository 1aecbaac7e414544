/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/vec.h"
#include "opfs/profile/inlines.h"
#include "opfs/profile/lines.h"
#include "opfs/profile/stack_choice.h"
#include "opfs/report/export/export.h"
#include "opfs/report/export/gzip.h"
#include "opfs/report/export/pb.h"
#include "opfs/report/export/pprof.h"
#include "opfs/report/whole_stacks.h"

/*
 * profile.pb.gz, for pprof.  A column is a type of samples.  Samples that were kept apart
 * by process, thread or CPU have that as labels, unless merge: says otherwise.
 */
static const char file_name[] = "profile.pb.gz";
static const char unit[] = "count";

#define WORD(id) (1ull << SPEC_WORD_##id)

static const struct {
	const char *key;
	uint64_t merged; /* words that leave it out */
	size_t off;      /* of its number in struct spec_name */
} labels[] = {
	{ "tgid", WORD(MERGE_TGID) | WORD(MERGE_ALL), offsetof(struct spec_name, tgid) },
	{ "tid", WORD(MERGE_TID) | WORD(MERGE_TGID) | WORD(MERGE_ALL),
	  offsetof(struct spec_name, tid) },
	{ "cpu", WORD(MERGE_CPU) | WORD(MERGE_ALL), offsetof(struct spec_name, cpu) },
};

enum { NR_LABELS = sizeof(labels) / sizeof(labels[0]) };

struct sample {
	uint32_t frame, class;
	int64_t label[NR_LABELS]; /* SPEC_ALL: none */
	uint64_t samples;
};

struct writing {
	const struct report_job *job;
	const struct profile *p;
	const struct profile_stacks *s;
	struct pprof to;
	VEC(struct sample) samples;
	uint32_t *location; /* of each frame; 0: not needed, or in that of a frame
			     * inlined there */
	uint32_t *mapping;  /* of each image; 0: not needed */
	uint8_t *func;      /* of each function: 1 if it is needed */
	const char **file;  /* of each function: its source, if that is known */
	struct map known;   /* image and address -> location */
	uint64_t *values;   /* of the sample at hand, one a column */
	struct strbuf path; /* its locations */
};

static void writing_fini(struct writing *w)
{
	pprof_fini(&w->to);
	vec_fini(&w->samples);
	free(w->location);
	free(w->mapping);
	free(w->func);
	free(w->file);
	map_fini(&w->known);
	free(w->values);
	strbuf_fini(&w->path);
}

static int writing_init(struct writing *w, const struct report_job *job)
{
	w->job = job;
	w->p = job->p;
	w->s = job->p->stacks;
	w->location = calloc(w->s->nr_frames + 1, sizeof(*w->location));
	w->mapping = calloc(w->p->cat->nr_images + 1, sizeof(*w->mapping));
	w->func = calloc(w->s->nr_funcs + 1, sizeof(*w->func));
	w->file = calloc(w->s->nr_funcs + 1, sizeof(*w->file));
	w->values = calloc(w->p->nr_classes + 1, sizeof(*w->values));
	if (!w->location || !w->mapping || !w->func || !w->file || !w->values)
		return -ENOMEM;
	return pprof_init(&w->to);
}

/* ---- what is needed */

static struct sample sample_of(const struct writing *w, const struct profile_stack *s)
{
	const struct profile_stack_file *f = &w->s->files[s->file];
	struct sample out = { s->frame, f->class, { 0 }, s->samples };

	for (size_t i = 0; i < NR_LABELS; i++) {
		const char *name = (const char *)&f->file->name;

		out.label[i] = w->job->o->words & labels[i].merged
				       ? SPEC_ALL
				       : *(const int64_t *)(name + labels[i].off);
	}
	return out;
}

/* Returns its caller: what is inlined is in one location with what it is inlined into. */
static uint32_t need_frame(struct writing *w, uint32_t at)
{
	const struct profile_frame *frame = &w->s->frames[at];

	w->location[at] = 1;
	for (; frame->inlined; frame = &w->s->frames[frame->parent])
		w->func[frame->func] = 1;
	w->func[frame->func] = 1;
	if (frame->image != CATALOG_NO_IMAGE)
		w->mapping[frame->image] = 1;
	return frame->parent;
}

static int choose(struct writing *w)
{
	CLEANUP(stack_choice_fini) struct stack_choice choice = { 0 };
	int rc = stack_choice_init(&choice, w->p);

	for (size_t i = 0; i < w->s->nr_stacks && !rc; i++) {
		const struct profile_stack *s = &w->s->stacks[i];

		if (!stack_choice_has(&choice, s))
			continue;
		rc = vec_push(&w->samples, sample_of(w, s));
		for (uint32_t at = s->frame; at && !w->location[at];)
			at = need_frame(w, at);
	}
	return rc;
}

/* ---- tables */

static void write_types(struct writing *w, struct strbuf *first)
{
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };

	for (size_t c = 0; c < w->p->nr_classes; c++) {
		strbuf_reset(&name);
		export_class(w->p, c, &name);
		pprof_sample_type(&w->to, strbuf_str(&name), unit);
		if (!c)
			export_class(w->p, c, first);
		w->to.failed = w->to.failed || strbuf_error(&name);
	}
}

static void write_mapping(struct writing *w, uint32_t image, uint32_t id)
{
	const struct build_id build_id = report_build_id(w->p, image);
	char hex[BUILD_ID_TEXT];

	build_id_format(&build_id, hex);
	w->mapping[image] = id;
	pprof_mapping(&w->to,
		      &(struct pprof_mapping){ id, w->p->cat->images[image].shown, hex });
}

/* pprof takes the first one for the program. */
static int write_mappings(struct writing *w)
{
	CLEANUP(free_ptr)
	uint8_t *program = calloc(w->p->cat->nr_images + 1, sizeof(*program));
	uint32_t nr = 0;

	if (!program)
		return -ENOMEM;
	for (size_t i = 0; i < w->s->nr_funcs; i++)
		if (w->func[i] && w->s->funcs[i].kind == FRAME_PROGRAM)
			program[w->s->funcs[i].image] = 1;
	for (int first = 1; first >= 0; first--)
		for (uint32_t i = 0; i < w->p->cat->nr_images; i++)
			if (w->mapping[i] && program[i] == first)
				write_mapping(w, i, ++nr);
	return 0;
}

static void write_functions(struct writing *w)
{
	for (size_t i = 0; i < w->s->nr_funcs; i++) {
		const struct profile_func *f = &w->s->funcs[i];

		if (w->func[i])
			pprof_function(&w->to, i + 1, f->name,
				       f->sym ? sym_name(f->sym) : f->name, w->file[i]);
	}
}

/* The function of a frame, behind those that are inlined there; returns how many. */
static size_t find_lines(struct writing *w, uint32_t at,
			 struct pprof_line lines[PROFILE_MAX_INLINED + 1])
{
	const struct profile_frame *frame = &w->s->frames[at];
	struct line_place place = { 0 };
	size_t nr = 0;
	bool known = w->p->inlines && frame->image != CATALOG_NO_IMAGE &&
		     lines_at(w->p->inlines, frame->image, profile_frame_off(w->p, frame),
			      &place);

	for (;; frame = &w->s->frames[frame->parent]) {
		lines[nr++] =
			(struct pprof_line){ frame->func + 1, known ? place.line : 0 };
		if (known && !w->file[frame->func])
			w->file[frame->func] = place.file;
		if (!frame->inlined || nr > PROFILE_MAX_INLINED)
			return nr;
		known = known && lines_caller(&place);
	}
}

/* One for all frames of the same address, or for all of the same reason. */
static int write_location(struct writing *w, uint32_t at)
{
	const struct profile_frame *frame = &w->s->frames[at];
	bool none = frame->image == CATALOG_NO_IMAGE;
	const uint64_t key[2] = { frame->image,
				  none ? frame->func : export_address(w->p, frame) };
	struct pprof_line lines[PROFILE_MAX_INLINED + 1];
	size_t nr;
	uint64_t id;

	if (map_get(&w->known, key, sizeof(key), &id)) {
		w->location[at] = (uint32_t)id;
		return 0;
	}
	id = w->known.used + 1;
	if (map_set(&w->known, key, sizeof(key), id))
		return -ENOMEM;
	w->location[at] = (uint32_t)id;
	nr = find_lines(w, at, lines);
	pprof_location(&w->to, id, none ? 0 : w->mapping[frame->image], none ? 0 : key[1],
		       lines, nr);
	return 0;
}

static int write_locations(struct writing *w)
{
	int rc = 0;

	for (size_t i = 1; i < w->s->nr_frames && !rc; i++)
		if (w->location[i])
			rc = write_location(w, (uint32_t)i);
	return rc;
}

/* ---- samples */

static int compare_samples(const void *x, const void *y)
{
	const struct sample *a = x, *b = y;

	if (a->frame != b->frame)
		return a->frame < b->frame ? -1 : 1;
	for (size_t i = 0; i < NR_LABELS; i++)
		if (a->label[i] != b->label[i])
			return a->label[i] < b->label[i] ? -1 : 1;
	return 0;
}

static void write_sample(struct writing *w, const struct sample *of)
{
	struct pprof_label some[NR_LABELS];
	size_t nr = 0;

	strbuf_reset(&w->path);
	for (uint32_t at = of->frame; at && w->path.len <= EXPORT_MAX_BYTES;
	     at = w->s->frames[at].parent) {
		pb_varint(&w->path, w->location[at]);
		while (w->s->frames[at].inlined)
			at = w->s->frames[at].parent;
	}
	for (size_t i = 0; i < NR_LABELS; i++)
		if (of->label[i] != SPEC_ALL)
			some[nr++] = (struct pprof_label){ labels[i].key, of->label[i] };
	pprof_sample(&w->to, &w->path, w->values, w->p->nr_classes, some, nr);
}

/* Those that differ only in the column are one. */
static int write_samples(struct writing *w, struct err *err)
{
	const struct sample *all = w->samples.data;
	size_t nr = w->samples.len;
	int rc = 0;

	if (nr)
		qsort(w->samples.data, nr, sizeof(*all), compare_samples);
	for (size_t i = 0; i < nr && !rc;) {
		const struct sample *first = &all[i];

		memset(w->values, 0, w->p->nr_classes * sizeof(*w->values));
		for (; i < nr && !compare_samples(first, &all[i]); i++)
			w->values[all[i].class] += all[i].samples;
		write_sample(w, first);
		if (viewer_gone(w->job->v))
			return -EINTR;
		rc = export_check_size(w->to.out.len, EXPORT_MAX_BYTES, file_name, err);
	}
	return rc;
}

/* ---- the whole */

static int write_facts(struct writing *w, const char *type)
{
	CLEANUP(strbuf_fini) struct strbuf lines = { 0 };
	struct pprof_facts facts = { .type = type, .unit = unit };
	struct spec_span when = { UINT64_MAX, 0 };

	export_facts(w->job, &lines);
	for (size_t i = 0; i < w->p->cat->nr_dirs; i++) {
		const struct spec_span *s = &w->p->cat->dirs[i].when;

		if (s->from_ns < when.from_ns)
			when.from_ns = s->from_ns;
		if (s->to_ns > when.to_ns)
			when.to_ns = s->to_ns;
	}
	if (when.from_ns < when.to_ns) {
		facts.time_ns = when.from_ns;
		facts.duration_ns = when.to_ns - when.from_ns;
	}
	if (w->p->nr_classes)
		facts.period = w->p->classes[0].count;
	facts.comments = strbuf_str(&lines);
	pprof_facts(&w->to, &facts);
	return strbuf_error(&lines);
}

static int write_all(struct writing *w, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf first = { 0 };
	int rc = choose(w);

	if (rc)
		return rc;
	write_types(w, &first);
	rc = write_mappings(w);
	rc = rc ? rc : write_locations(w);
	write_functions(w); /* locations tell their files */
	rc = rc ? rc : write_samples(w, err);
	rc = rc ? rc : write_facts(w, strbuf_str(&first));
	rc = rc ? rc : pprof_finish(&w->to);
	return rc ? rc : strbuf_error(&first);
}

static unsigned needs_more(const struct options *o)
{
	return o->inlines ? PROFILE_INLINES_LINES : 0;
}

static int check(const struct report_job *job, struct err *err)
{
	return whole_stacks_check(job, file_name, err);
}

static int render(const struct report_job *job, struct strbuf *out, struct err *err)
{
	CLEANUP(writing_fini) struct writing w = { 0 };
	int rc = writing_init(&w, job);

	rc = rc ? rc : write_all(&w, err);
	rc = rc ? rc : gzip_pack(w.to.out.data, w.to.out.len, job->v, out);
	rc = report_result(rc, err);
	return rc ? rc : report_done(out, err);
}

const struct report report_pprof = {
	.name = "profile.pb.gz",
	.doc = "whole stacks for pprof: go tool pprof profile.pb.gz",
	.names_path = true,
	.needs = PROFILE_STACKS,
	.needs_more = needs_more,
	.calls = true,
	.inlines = true,
	.more = true,
	.tags = EXPORT_TAGS | OPTION_TAG(SPLIT),
	.words = OPTION_WITH(INLINES),
	.check = check,
	.render = render,
};
