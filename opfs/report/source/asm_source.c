/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/source/asm_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/map.h"
#include "base/vec.h"
#include "opfs/profile/lines.h"
#include "opfs/report/source/annotate.h"

#define CONTEXT 5u             /* lines shown before the first line of a file */
#define MAX_CACHED (64u << 20) /* bytes of sources kept from one window to the next */

struct asm_file {
	struct sym_text *text; /* its state may say that it cannot be read */
	size_t *starts;        /* of each line, and the end of the last one */
	size_t nr_lines;
	bool told;      /* says that it is newer than the binary */
	uint64_t unit;  /* the function that the next two are about */
	uint32_t last;  /* line shown last; 0: none */
	uint32_t shown; /* the highest line shown */
};

struct asm_source {
	const struct report_job *job;
	struct lines *lines; /* of the window */
	VEC(struct asm_file) files;
	struct map by_name; /* DWARF's name: index in files */
	size_t bytes;
	uint64_t unit;
	uint32_t image;
};

static void forget_files(struct asm_source *s)
{
	vec_for(&s->files, f) {
		sym_text_free(f->text);
		free(f->starts);
	}
	vec_fini(&s->files);
	map_fini(&s->by_name);
	s->bytes = 0;
}

void asm_source_free(struct asm_source *s)
{
	if (!s)
		return;
	forget_files(s);
	lines_free(s->lines);
	free(s);
}

static int load_lines(struct asm_source *s, const struct asm_unit *units, size_t nr,
		      struct err *err)
{
	CLEANUP(free_ptr) const struct profile_row **rows = calloc(nr + 1, sizeof(*rows));
	struct lines_query q = {
		.p = s->job->p,
		.rows = rows,
		.what = LINES_OF_CODE,
		.syms = s->job->syms,
		.v = s->job->v,
	};

	if (!rows)
		return report_no_memory(err);
	for (size_t i = 0; i < nr; i++)
		if (units[i].rows[0]->sym)
			rows[q.nr_rows++] = units[i].rows[0];
	lines_free(s->lines);
	s->lines = NULL;
	return lines_load(&q, &s->lines, err);
}

int asm_source_load(const struct report_job *job, const struct asm_unit *units, size_t nr,
		    struct asm_source **out, struct err *err)
{
	if (!*out) {
		*out = calloc(1, sizeof(**out));
		if (!*out)
			return report_no_memory(err);
		(*out)->job = job;
	}
	if ((*out)->bytes > MAX_CACHED)
		forget_files(*out);
	return load_lines(*out, units, nr, err);
}

void asm_source_begin(struct asm_source *s, uint32_t image)
{
	s->image = image;
	s->unit++;
}

/* Where lines begin; the last entry is the end of the text. */
static void index_lines(struct asm_file *f)
{
	size_t nr = 0;

	for (size_t i = 0; i < f->text->len; i++)
		nr += f->text->data[i] == '\n';
	f->starts = calloc(nr + 2, sizeof(*f->starts));
	if (!f->starts)
		return; /* none of its lines are shown */
	for (size_t i = 0; i < f->text->len; i++)
		if (f->text->data[i] == '\n')
			f->starts[++f->nr_lines] = i + 1;
	if (f->starts[f->nr_lines] < f->text->len)
		f->starts[++f->nr_lines] = f->text->len;
}

static struct asm_file *read_file(struct asm_source *s, const char *name)
{
	struct asm_file f = { 0 };

	if (!annotate_open(s->job, name, &f.text, NULL) && f.text->state == SYM_OK) {
		index_lines(&f);
		s->bytes += f.text->len;
	}
	if (vec_push(&s->files, f)) {
		sym_text_free(f.text);
		free(f.starts);
		return NULL;
	}
	if (map_set(&s->by_name, name, strlen(name), s->files.len - 1))
		forget_files(s);
	return s->files.len ? &s->files.data[s->files.len - 1] : NULL;
}

static struct asm_file *find_file(struct asm_source *s, const char *name)
{
	uint64_t at;

	if (map_get(&s->by_name, name, strlen(name), &at))
		return &s->files.data[at];
	return read_file(s, name);
}

static void add_line(const struct asm_file *f, uint32_t line, const struct strbuf *fill,
		     struct strbuf *out)
{
	const char *text = f->text->data + f->starts[line - 1];
	size_t len = f->starts[line] - f->starts[line - 1];

	if (len && text[len - 1] == '\n')
		len--;
	strbuf_add(out, fill->data, fill->len);
	annotate_source(text, len, out);
	strbuf_putc(out, '\n');
}

/* A source that was changed after the binary was built may show other lines. */
static void tell_newer(struct asm_source *s, struct asm_file *f,
		       const struct strbuf *fill, struct strbuf *out)
{
	const struct sym_table *table = s->job->p->images[s->image].table;

	if (f->told || !table || !table->mtime || f->text->mtime <= table->mtime)
		return;
	f->told = true;
	strbuf_add(out, fill->data, fill->len);
	strbuf_puts(out, "(the source is newer than the binary: ");
	escape_text(out, f->text->path);
	strbuf_puts(out, ")\n");
}

void asm_source_lines(struct asm_source *s, uint64_t off, const struct strbuf *fill,
		      struct strbuf *out)
{
	struct line_place place;
	struct asm_file *f;
	uint32_t from, to;

	if (!lines_at(s->lines, s->image, off, &place) || !place.file || !place.line)
		return;
	f = find_file(s, place.file);
	if (!f || !f->starts)
		return;
	if (f->unit != s->unit) {
		f->unit = s->unit;
		f->last = f->shown = 0;
	}
	if (place.line == f->last)
		return;
	tell_newer(s, f, fill, out);
	from = place.line > CONTEXT ? place.line - CONTEXT : 1;
	if (f->shown >= from)
		from = f->shown < place.line ? f->shown + 1 : place.line;
	to = place.line < f->nr_lines ? place.line : (uint32_t)f->nr_lines;
	for (uint32_t line = from; line <= to; line++)
		add_line(f, line, fill, out);
	if (f->shown < place.line)
		f->shown = place.line;
	f->last = place.line;
}
