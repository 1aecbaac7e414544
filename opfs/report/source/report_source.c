/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/vec.h"
#include "opfs/profile/lines.h"
#include "opfs/report/report.h"
#include "opfs/report/source/annotate.h"
#include "opfs/report/source/sources.h"

/* The source of single functions: those that symbol: names. */

struct function {
	const struct source_file *file;
	const struct source_symbol *symbol; /* the one with the most samples */
	struct annotate_part part;          /* from its first to its last line */
};

/* A limit: with more functions, annotate/ is the file to read. */
enum { MAX_FUNCTIONS = 500 };

struct functions {
	const struct report_job *job;
	const struct sources *s;
	struct lines *code; /* all lines of the functions */
	VEC(struct function) list;
	const struct source_file *read; /* which file @text is of */
	struct sym_text *text;
	bool *shown;   /* of all lines of all files */
	size_t *first; /* of each file, its first one there */
};

static void functions_fini(struct functions *f)
{
	lines_free(f->code);
	vec_fini(&f->list);
	sym_text_free(f->text);
	free(f->shown);
	free(f->first);
}

/* ---- where a function is */

/* The place in the function itself, not in a function inlined there. */
static void own_place(struct line_place *at)
{
	for (int i = 0; i < 64 && lines_caller(at); i++)
		;
}

static void find_lines(const struct functions *f, struct function *fn)
{
	const struct sym *sym = fn->symbol->sym;
	const struct sym_lines *of = lines_image(f->code, fn->symbol->image);
	const struct sym_line *row = of ? sym_line_find(of, sym->off) : NULL;
	struct line_place at;

	fn->part.first = fn->part.last = fn->symbol->line;
	for (; row && row < of->rows + of->nr_rows; row++) {
		if (row->off >= sym->off + sym->size)
			break;
		lines_place(of, row, &at);
		own_place(&at);
		if (!at.file || !at.line || strcmp(at.file, fn->file->name) != 0)
			continue;
		if (at.line < fn->part.first)
			fn->part.first = at.line;
		if (at.line > fn->part.last)
			fn->part.last = at.line;
	}
}

static int compare_places(const struct function *a, const struct function *b)
{
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	if (a->part.first != b->part.first)
		return a->part.first < b->part.first ? -1 : 1;
	return a->part.last < b->part.last ? -1 : a->part.last > b->part.last;
}

static int compare_counts(const struct functions *f, const struct function *a,
			  const struct function *b)
{
	uint64_t m = f->s->nr_classes ? a->symbol->samples[0] : 0;
	uint64_t n = f->s->nr_classes ? b->symbol->samples[0] : 0;

	return m > n ? -1 : m < n;
}

static int by_place(const void *x, const void *y, void *ctx)
{
	int order = compare_places(x, y);

	return order ? order : compare_counts(ctx, x, y);
}

static int by_count(const void *x, const void *y, void *ctx)
{
	int order = compare_counts(ctx, x, y);

	return order ? order : compare_places(x, y);
}

/* Functions with the same lines (templates, headers) are shown once. */
static void join(struct functions *f)
{
	struct function *list = f->list.data;
	size_t n = 0;

	if (!f->list.len)
		return;
	qsort_r(list, f->list.len, sizeof(*list), by_place, f);
	for (size_t i = 0; i < f->list.len; i++)
		if (!n || compare_places(&list[n - 1], &list[i]))
			list[n++] = list[i];
	f->list.len = n;
	qsort_r(list, n, sizeof(*list), by_count, f);
}

static int collect(struct functions *f)
{
	for (size_t i = 0; i < f->s->nr_files; i++) {
		const struct source_file *file = &f->s->files[i];

		for (size_t k = 0; k < file->nr_symbols; k++) {
			struct function fn = { .file = file,
					       .symbol = &file->symbols[k] };

			find_lines(f, &fn);
			if (vec_push(&f->list, fn))
				return -ENOMEM;
		}
	}
	join(f);
	return 0;
}

static int mark_none(struct functions *f)
{
	size_t nr = 0;

	f->first = calloc(f->s->nr_files + 1, sizeof(*f->first));
	for (size_t i = 0; f->first && i < f->s->nr_files; i++) {
		f->first[i] = nr;
		nr += f->s->files[i].nr_lines;
	}
	f->shown = calloc(nr + 1, sizeof(*f->shown));
	return f->first && f->shown ? 0 : -ENOMEM;
}

/* ---- its text */

/* Where lines begin; the last one is the end of the text. */
struct index {
	VEC(size_t) at;
};

static void index_fini(struct index *x)
{
	vec_fini(&x->at);
}

static int index_lines(struct index *x, const struct sym_text *text)
{
	size_t off = 0;

	while (off < text->len) {
		const char *end = memchr(text->data + off, '\n', text->len - off);

		if (vec_push(&x->at, off))
			return -ENOMEM;
		off = end ? (size_t)(end + 1 - text->data) : text->len;
	}
	return vec_push(&x->at, text->len);
}

/* The length of a line without trailing blanks. */
static size_t line_at(const struct index *x, const struct sym_text *text, uint32_t line,
		      const char **at)
{
	size_t len = x->at.data[line] - x->at.data[line - 1];

	*at = text->data + x->at.data[line - 1];
	while (len && strchr(" \t\r\n", (*at)[len - 1]))
		len--;
	return len;
}

/* True if a line may be the head of the function that begins below it. */
static bool is_head(const struct index *x, const struct sym_text *text, uint32_t line)
{
	const char *at;
	size_t len = line_at(x, text, line, &at);

	return len && at[0] != '}' && at[0] != '#' && !strchr(";}/", at[len - 1]);
}

static bool ends_in_brace(const struct index *x, const struct sym_text *text,
			  uint32_t line)
{
	const char *at;
	size_t len = line_at(x, text, line, &at);

	return len && at[len - 1] == '}';
}

static bool begins_with_brace(const struct index *x, const struct sym_text *text,
			      uint32_t line)
{
	const char *at;
	size_t len = line_at(x, text, line, &at);

	while (len && (*at == ' ' || *at == '\t')) {
		at++;
		len--;
	}
	return len && *at == '}';
}

/*
 * Debug information only has lines with code; the head and the closing brace have none.
 */
static int widen(struct annotate_part *part, const struct sym_text *text)
{
	enum { HEAD = 8, TAIL = 3 };
	CLEANUP(index_fini) struct index x = { 0 };
	size_t nr;

	if (text->state != SYM_OK)
		return 0;
	if (index_lines(&x, text))
		return -ENOMEM;
	nr = x.at.len - 1;
	for (int i = 0; i < HEAD && part->first > 1 && part->first <= nr; i++) {
		if (!is_head(&x, text, part->first - 1))
			break;
		part->first--;
	}
	if (part->last > nr || ends_in_brace(&x, text, part->last))
		return 0;
	for (uint32_t line = part->last + 1; line <= nr && line <= part->last + TAIL;
	     line++)
		if (begins_with_brace(&x, text, line)) {
			part->last = line;
			break;
		}
	return 0;
}

static int read_file(struct functions *f, const struct source_file *file, struct err *err)
{
	if (f->read == file)
		return 0;
	sym_text_free(TAKE(f->text));
	f->read = file;
	return annotate_open(f->job, file->name, &f->text, err);
}

static void mark_shown(struct functions *f, const struct function *fn)
{
	const struct source_file *file = fn->file;
	bool *shown = f->shown + f->first[file - f->s->files];

	for (size_t i = 0; i < file->nr_lines; i++)
		if (file->lines[i].line >= fn->part.first &&
		    file->lines[i].line <= fn->part.last)
			shown[i] = true;
}

static int add_function(struct functions *f, struct function *fn, struct strbuf *out,
			struct err *err)
{
	int rc = read_file(f, fn->file, err);

	if (rc)
		return rc;
	if (widen(&fn->part, f->text))
		return report_no_memory(err);
	mark_shown(f, fn);
	strbuf_puts(out, "/* \n * ");
	annotate_text(fn->file->name, out);
	strbuf_printf(out, ", lines %" PRIu32 " to %" PRIu32 "\n */\n", fn->part.first,
		      fn->part.last);
	rc = annotate_file(f->job, f->s, fn->file, f->text, &fn->part, out, err);
	strbuf_putc(out, '\n');
	return rc;
}

/* ---- what is elsewhere */

static void add_elsewhere(const struct functions *f, struct strbuf *out)
{
	const struct sources *s = f->s;
	size_t begin;

	strbuf_puts(out, "/* Samples of the same functions elsewhere: inlined code, code "
			 "without a line */\n");
	begin = out->len;
	for (size_t i = 0; i < s->nr_files; i++) {
		const struct source_file *file = &s->files[i];

		for (size_t k = 0; k < file->nr_lines; k++) {
			if (f->shown[f->first[i] + k])
				continue;
			annotate_prefix(s, file->lines[k].samples, out);
			annotate_text(file->name, out);
			strbuf_printf(out, ":%" PRIu32 "\n", file->lines[k].line);
		}
	}
	for (size_t i = 0; i < s->nr_rests; i++) {
		annotate_prefix(s, s->rests[i].samples, out);
		escape_text(out, f->job->p->cat->images[s->rests[i].image].shown);
		strbuf_puts(out, " /* ");
		annotate_text(s->rests[i].reason, out);
		strbuf_puts(out, " */\n");
	}
	strbuf_puts(out, out->len == begin ? "/* none */\n\n" : "\n");
}

static int render_source(const struct report_job *job, struct strbuf *out,
			 struct err *err)
{
	CLEANUP(sources_putp) struct sources *s = NULL;
	CLEANUP(functions_fini) struct functions f = { .job = job };
	const struct lines_query q = { .p = job->p,
				       .what = LINES_OF_CODE,
				       .flags = SYM_LINES_INLINES,
				       .syms = job->syms,
				       .v = job->v };
	int rc = sources_get(job, &s, err);

	rc = rc ? rc : lines_load(&q, &f.code, err);
	if (rc)
		return rc;
	f.s = s;
	if (collect(&f) || mark_none(&f))
		return report_no_memory(err);
	for (size_t i = 0; i < f.list.len && i < MAX_FUNCTIONS && !rc; i++)
		rc = add_function(&f, &f.list.data[i], out, err);
	if (rc)
		return rc;
	if (f.list.len > MAX_FUNCTIONS)
		strbuf_printf(out,
			      "/* %zu functions with less samples are left out: see "
			      "annotate/ */\n\n",
			      f.list.len - MAX_FUNCTIONS);
	add_elsewhere(&f, out);
	annotate_about(job, "source", out);
	return report_done(out, err);
}

const struct report report_source = {
	.name = "source",
	.doc = "source of the function with samples beside each line",
	.names_path = true,
	.needs = PROFILE_HITS,
	.symbol = true,
	.tags = (REPORT_TAGS_ROWS & ~OPTION_TAG(THRESHOLD)) | OPTION_TAG(SEARCH_DIRS) |
		OPTION_TAG(BASE_DIRS),
	.words = OPTION_WITH(EXCLUDE_DEPENDENT) | OPTION_WITH(INLINES),
	.outside = annotate_always,
	.check = annotate_check,
	.render = render_source,
};
