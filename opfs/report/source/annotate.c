/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/source/annotate.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/percent.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "libsym/wire/source_wire.h"
#include "opfs/report/header.h"

/* "%6d %7s" of a class: what a line without samples has as blanks. */
enum { COUNT_WIDTH = 6, PAIR_WIDTH = COUNT_WIDTH + 1 + 7 };

void annotate_counts(const struct sources *s, const uint64_t *samples, struct strbuf *out)
{
	char percent[PERCENT_MAX];

	for (size_t c = 0; c < s->nr_classes; c++) {
		percent_format(percent_of(samples[c], s->totals[c]), percent);
		strbuf_number(out, samples[c], COUNT_WIDTH);
		strbuf_putc(out, ' ');
		strbuf_puts(out, percent);
	}
}

void annotate_prefix(const struct sources *s, const uint64_t *samples, struct strbuf *out)
{
	if (samples)
		annotate_counts(s, samples, out);
	else
		strbuf_fill(out, ' ', s->nr_classes * PAIR_WIDTH);
	if (s->nr_classes)
		strbuf_fill(out, ' ', 2 * s->nr_classes - 1);
	strbuf_putc(out, ':');
}

void annotate_text(const char *text, struct strbuf *out)
{
	const char *end;

	while ((end = strstr(text, "*/"))) {
		CLEANUP(strbuf_fini) struct strbuf part = { 0 };

		strbuf_add(&part, text, (size_t)(end + 1 - text));
		escape_text(out, strbuf_str(&part));
		strbuf_putc(out, ' ');
		text = end + 1;
	}
	escape_text(out, text);
}

/* ---- what follows a line */

static void add_total(const struct sources *s, const struct source_symbol *symbols,
		      size_t nr, struct strbuf *out)
{
	strbuf_puts(out, "total: ");
	for (size_t c = 0; c < s->nr_classes; c++) {
		char percent[PERCENT_MAX];
		uint64_t sum = 0;

		for (size_t i = 0; i < nr; i++)
			sum += symbols[i].samples[c];
		percent_format(percent_of(sum, s->totals[c]), percent);
		strbuf_number(out, sum, COUNT_WIDTH);
		strbuf_putc(out, ' ');
		strbuf_puts(out, percent);
	}
}

/* "/" "* crunch total:    353 32.1787 *" "/", with a blank before, for functions that
 * begin in one line; nothing if @nr is 0. */
static void add_symbols(const struct sources *s, const struct source_symbol *symbols,
			size_t nr, struct strbuf *out)
{
	if (!nr)
		return;
	strbuf_puts(out, " /* ");
	for (size_t i = 0; i < nr; i++) {
		annotate_text(symbols[i].name, out);
		strbuf_putc(out, ' ');
		if (nr == 1)
			break;
		annotate_counts(s, symbols[i].samples, out);
		strbuf_puts(out, ", ");
	}
	add_total(s, symbols, nr, out);
	strbuf_puts(out, " */");
}

/* No total: code inlined into inlined code is in both counts. */
static void add_calls(const struct sources *s, const struct source_call *calls, size_t nr,
		      struct strbuf *out)
{
	if (!nr)
		return;
	strbuf_puts(out, " /* inlined here: ");
	for (size_t i = 0; i < nr; i++) {
		if (i)
			strbuf_puts(out, ", ");
		annotate_text(calls[i].name[0] ? calls[i].name : "(no name)", out);
		strbuf_putc(out, ' ');
		annotate_counts(s, calls[i].samples, out);
	}
	strbuf_puts(out, " */");
}

/* ---- text of a source file: any bytes, none of which may move a cursor */

static void add_control(const unsigned char *at, size_t len, struct strbuf *out)
{
	if (len == 1 && at[0] < 0x80) {
		strbuf_putc(out, '^');
		strbuf_putc(out, (char)(at[0] ^ 0x40));
	} else {
		strbuf_printf(out, "<%02x>", at[len - 1]);
	}
}

void annotate_source(const char *data, size_t len, struct strbuf *out)
{
	const unsigned char *at = (const unsigned char *)data, *end, *plain;

	if (len && data[len - 1] == '\r')
		len--;
	end = at + len;
	for (plain = at; at < end;) {
		size_t control = 0;

		if (*at >= 0x20 && *at < 0x7f) {
			at++;
			continue;
		}
		control = *at == '\t' ? 0 : utf8_control_len(at, (size_t)(end - at));
		if (control) {
			strbuf_add(out, plain, (size_t)(at - plain));
			add_control(at, control, out);
			plain = at += control;
		} else {
			size_t utf8 = utf8_len(at, (size_t)(end - at));

			at += utf8 ? utf8 : 1;
		}
	}
	strbuf_add(out, plain, (size_t)(end - plain));
}

/* ---- lines of a file */

struct walk { /* how far the lists of a file, which are sorted by line, were written */
	const struct report_job *job;
	const struct sources *s;
	const struct source_file *f;
	size_t line, symbol, call;
};

#define SKIP(list, at, nr, upto)                                                         \
	do {                                                                             \
		while (*(at) < (nr) && (list)[*(at)].line < (upto))                      \
			++*(at);                                                         \
	} while (0)

static void walk_to(struct walk *w, uint32_t line)
{
	SKIP(w->f->lines, &w->line, w->f->nr_lines, line);
	SKIP(w->f->symbols, &w->symbol, w->f->nr_symbols, line);
	SKIP(w->f->calls, &w->call, w->f->nr_calls, line);
}

static const uint64_t *samples_at(const struct walk *w, uint32_t line)
{
	const struct source_line *l = &w->f->lines[w->line];

	return w->line < w->f->nr_lines && l->line == line ? l->samples : NULL;
}

/* Writes what follows the text of the line where the walk is. */
static void add_behind(struct walk *w, uint32_t line, struct strbuf *out)
{
	size_t symbol = w->symbol, call = w->call;

	SKIP(w->f->symbols, &symbol, w->f->nr_symbols, line + 1);
	SKIP(w->f->calls, &call, w->f->nr_calls, line + 1);
	add_symbols(w->s, w->f->symbols + w->symbol, symbol - w->symbol, out);
	add_calls(w->s, w->f->calls + w->call, call - w->call, out);
}

/*
 * The next line, at or behind the walk, with any samples or comments; 0: there is none.
 */
static uint32_t next_line(const struct walk *w)
{
	uint32_t next = UINT32_MAX;

	if (w->line < w->f->nr_lines)
		next = w->f->lines[w->line].line;
	if (w->symbol < w->f->nr_symbols && w->f->symbols[w->symbol].line < next)
		next = w->f->symbols[w->symbol].line;
	if (w->call < w->f->nr_calls && w->f->calls[w->call].line < next)
		next = w->f->calls[w->call].line;
	return next == UINT32_MAX ? 0 : next;
}

/* Lines that the source does not have, by number. */
static void add_numbers(struct walk *w, uint32_t from, uint32_t last, const char *what,
			struct strbuf *out)
{
	walk_to(w, from);
	for (uint32_t line; (line = next_line(w)) && line <= last; walk_to(w, line + 1)) {
		annotate_prefix(w->s, samples_at(w, line), out);
		strbuf_puts(out, "(line ");
		strbuf_number(out, line, 0);
		strbuf_puts(out, what);
		strbuf_putc(out, ')');
		add_behind(w, line, out);
		strbuf_putc(out, '\n');
	}
}

/* How many lines there are. */
static int add_lines(struct walk *w, const struct sym_text *text,
		     const struct annotate_part *part, uint32_t *last, struct strbuf *out)
{
	const char *at = text->data, *end = at + text->len, *next;
	uint32_t line = 0;

	for (; at < end && line < UINT32_MAX - 1; at = next + 1) {
		next = memchr(at, '\n', (size_t)(end - at));
		if (!next)
			next = end;
		if (++line < part->first)
			continue;
		if (line > part->last)
			break;
		if (line % 4096 == 0 && viewer_gone(w->job->v))
			return -EINTR;
		walk_to(w, line);
		annotate_prefix(w->s, samples_at(w, line), out);
		annotate_source(at, (size_t)(next - at), out);
		add_behind(w, line, out);
		strbuf_putc(out, '\n');
	}
	*last = line;
	return 0;
}

static void add_without_source(struct walk *w, const struct sym_text *text,
			       const struct annotate_part *part, struct strbuf *out)
{
	strbuf_puts(out, "/* No source: ");
	annotate_text(text ? text->reason : "not looked for", out);
	if (text && text->state == SYM_MISSING)
		strbuf_puts(out, "; where it is now can be told: "
				 "search-dirs:%2FDIRECTORY, base-dirs:");
	strbuf_puts(out, " */\n");
	for (size_t i = 0; i < w->f->nr_symbols; i++) {
		const struct source_symbol *sym = &w->f->symbols[i];

		if (sym->line < part->first || sym->line > part->last)
			continue;
		add_symbols(w->s, sym, 1, out);
		strbuf_putc(out, '\n');
	}
	w->symbol = w->f->nr_symbols; /* told above */
	add_numbers(w, part->first ? part->first : 1, part->last, "", out);
}

int annotate_file(const struct report_job *job, const struct sources *s,
		  const struct source_file *f, const struct sym_text *text,
		  const struct annotate_part *part, struct strbuf *out, struct err *err)
{
	struct annotate_part all = *part;
	struct walk w = { .job = job, .s = s, .f = f };
	uint32_t last;

	if (!all.last)
		all.last = UINT32_MAX;
	if (!text || text->state != SYM_OK) {
		add_without_source(&w, text, &all, out);
		return 0;
	}
	if (add_lines(&w, text, &all, &last, out))
		return report_interrupted(err);
	if (last < all.last)
		add_numbers(&w, last + 1, all.last, " is behind the end of the file",
			    out);
	return 0;
}

/* ---- comments */

static void add_time(int64_t seconds, struct strbuf *out)
{
	time_t t = (time_t)seconds;
	char text[32];
	struct tm tm;

	if (gmtime_r(&t, &tm) && strftime(text, sizeof(text), "%F %T", &tm))
		strbuf_puts(out, text);
	else
		strbuf_printf(out, "%" PRId64, seconds);
}

static void add_age(const struct report_job *job, const struct source_file *f,
		    const struct sym_text *text, struct strbuf *out)
{
	if (!f->binary_mtime || text->mtime <= f->binary_mtime)
		return;
	strbuf_puts(out, " * This source file (");
	add_time(text->mtime, out);
	strbuf_puts(out, ") is newer than ");
	annotate_text(job->p->cat->images[f->binary].shown, out);
	strbuf_puts(out, " (");
	add_time(f->binary_mtime, out);
	strbuf_puts(out, "):\n * lines may not be those that were sampled\n");
}

void annotate_total(const struct report_job *job, const struct sources *s,
		    const struct source_file *f, const struct sym_text *text,
		    struct strbuf *out)
{
	strbuf_puts(out, "/* \n * Total samples for file : \"");
	annotate_text(f->name, out);
	strbuf_puts(out, "\"\n * \n * ");
	annotate_counts(s, f->samples, out);
	strbuf_putc(out, '\n');
	if (text && text->state == SYM_OK) {
		if (strcmp(text->path, f->name) != 0) {
			strbuf_puts(out, " * Read from : \"");
			annotate_text(text->path, out);
			strbuf_puts(out, "\"\n");
		}
		add_age(job, f, text, out);
	}
	strbuf_puts(out, " */\n\n");
	if (f->nr_lines && !f->lines[0].line) {
		strbuf_puts(out, "<credited to line zero> ");
		annotate_prefix(s, f->lines[0].samples, out);
	}
	strbuf_putc(out, '\n');
}

void annotate_classes(const struct report_job *job, struct strbuf *out)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	const char *at;

	header_lines(job->p, &text);
	report_unsplit(job, &text);
	report_span(job, &text);
	at = strbuf_str(&text);
	while (*at) {
		CLEANUP(strbuf_fini) struct strbuf line = { 0 };
		size_t len = strcspn(at, "\n");

		strbuf_add(&line, at, len);
		strbuf_puts(out, " * ");
		annotate_text(strbuf_str(&line), out);
		strbuf_putc(out, '\n');
		at += len + (at[len] == '\n');
	}
}

static void add_choice(const struct report_job *job, struct strbuf *out)
{
	if (!job->entry) {
		strbuf_puts(out, " * Output annotated source of functions\n");
		return;
	}
	strbuf_puts(out, " * Output annotated source file with samples\n");
	if (job->o->view.threshold > 0)
		strbuf_printf(out,
			      " * Output files where samples count reach %g%% of the "
			      "samples\n",
			      job->o->view.threshold);
	else
		strbuf_puts(out, " * Output all files\n");
}

void annotate_about(const struct report_job *job, const char *what, struct strbuf *out)
{
	strbuf_puts(out, "/* \n * Path: ");
	annotate_text(job->path, out);
	strbuf_printf(out, "/%s\n * \n * Interpretation of path:\n", what);
	add_choice(job, out);
	if (job->o->inlines)
		strbuf_puts(out,
			    " * Samples in inlined code are counted in its own lines; "
			    "\"inlined here\" shows them\n * again where it is called, "
			    "and is in no total\n");
	strbuf_puts(out, " * \n");
	annotate_classes(job, out);
	strbuf_puts(out, " */\n");
}

/* Paths where a source file may be, the most likely first; each is heap. */
struct paths {
	VEC(char *) list;
};

static void paths_fini(struct paths *p)
{
	vec_for(&p->list, it)
		free(*it);
	vec_fini(&p->list);
}

static int add_path(struct paths *p, const char *dir, const char *name)
{
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	char *text;

	strbuf_puts(&path, dir);
	if (*dir && *name != '/')
		strbuf_putc(&path, '/');
	strbuf_puts(&path, name);
	text = strbuf_take(&path);
	if (text && !vec_push(&p->list, text))
		return 0;
	free(text);
	return -ENOMEM;
}

/* @name relative to the directory @base, or NULL if it is not below it. */
static const char *below(const char *name, const char *base)
{
	size_t len = strlen(base);

	while (len && base[len - 1] == '/')
		len--;
	if (strncmp(name, base, len) != 0 || name[len] != '/')
		return NULL;
	return name + len;
}

/* Only the first base directory that fits is taken off. */
static const char *without_base(const struct spec_value *bases, const char *name)
{
	for (size_t i = 0; bases && i < bases->items.nr; i++) {
		const char *base = bases->items.items[i].text;
		const char *rest = *base ? below(name, base) : NULL;

		if (rest)
			return rest;
	}
	return name;
}

static int candidates(const struct options *o, const struct archive_dir *archive,
		      const char *name, struct paths *out)
{
	const struct spec_value *dirs = o->search_dirs;
	CLEANUP(strbuf_fini) struct strbuf kept = { 0 };
	const char *rest = without_base(o->base_dirs, name);

	for (size_t i = 0; dirs && i < dirs->items.nr; i++)
		if (*dirs->items.items[i].text &&
		    add_path(out, dirs->items.items[i].text, rest))
			return -ENOMEM;
	if (archive_dir_path(archive, name, &kept) &&
	    add_path(out, "", strbuf_str(&kept)))
		return -ENOMEM;
	/* A relative path would depend on the directory in which opfs was started. */
	return *name == '/' ? add_path(out, "", name) : 0;
}

/* A text that only gives the reason why there is none. */
static int no_source(const char *name, const char *why, struct sym_text **out)
{
	CLEANUP(strbuf_fini) struct strbuf reason = { 0 };

	strbuf_printf(&reason, "%s: %s", name, why);
	return strbuf_error(&reason)
		       ? -ENOMEM
		       : sym_source_none(SYM_MISSING, strbuf_str(&reason), out, NULL);
}

int annotate_open(const struct report_job *job, const char *name, struct sym_text **out,
		  struct err *err)
{
	CLEANUP(paths_fini) struct paths paths = { 0 };
	const struct archive_dir *archive = &job->p->cat->archive;
	const struct viewer *v = job->v;
	struct err why = { 0 };
	int rc;

	if (candidates(job->o, archive, name, &paths))
		return report_no_memory(err);
	if (!paths.list.len)
		rc = no_source(name, "is no absolute path", out);
	else if (!job->syms)
		rc = no_source(name, "sources are not looked up here", out);
	else {
		rc = sym_server_source(sym_cache_server(job->syms),
				       (const char *const *)paths.list.data,
				       paths.list.len, viewer_cred(v), viewer_cancel(v),
				       out, &why);
		if (rc && rc != -EINTR && rc != -ENOMEM)
			rc = no_source(name, why.msg, out);
	}
	if (rc == -EINTR)
		return report_interrupted(err);
	if (rc)
		return report_no_memory(err);
	/* The path in an archive is of no interest to readers. */
	(*out)->path = archive_dir_shown(archive, (*out)->path);
	(*out)->reason = archive_dir_shown(archive, (*out)->reason);
	return 0;
}

bool annotate_always(const struct options *o)
{
	(void)o;
	return true;
}

int annotate_check(const struct report_job *job, struct err *err)
{
	if (job->o->base_dirs && !job->o->search_dirs)
		return err_set(
			err, -EINVAL,
			"base-dirs: is useless unless search-dirs: tells an "
			"alternative source location: add search-dirs:%%2FDIRECTORY");
	return 0;
}
