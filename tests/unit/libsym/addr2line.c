/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/libsym/addr2line.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "base/vec.h"

enum { TOLD = 10 };

struct place {
	uint64_t off, vma;
};

struct comparison {
	const struct sym_lines *l;
	VEC(struct place) places;
	struct agreement a;
	bool binutils;
};

/* "/a/./b/../c" is "/a/c", "./d" is "d". */
static void normalise(const char *path, struct strbuf *out)
{
	size_t start = out->len;
	bool absolute = *path == '/';

	while (*path) {
		size_t n = strcspn(path, "/");

		if (n == 2 && !strncmp(path, "..", 2)) {
			const char *slash =
				memrchr(out->data + start, '/', out->len - start);

			strbuf_truncate(out, slash ? (size_t)(slash - out->data) : start);
		} else if (n && !(n == 1 && *path == '.')) {
			if (out->len > start || absolute)
				strbuf_putc(out, '/');
			strbuf_add(out, path, n);
		}
		path += n;
		path += *path == '/';
	}
}

static void add_level(struct strbuf *out, const struct sym_lines *l, uint32_t file,
		      uint32_t line)
{
	strbuf_printf(out, "\t%s:%u", file == SYM_LINE_NONE ? "??" : l->files[file],
		      line);
}

/* "FILE:LINE [FUNCTION FILE:LINE]...": from the inside out, without the real function. */
static void ours(const struct sym_lines *l, uint64_t off, struct strbuf *out)
{
	const struct sym_line *row = sym_line_find(l, off);

	if (!row || (row->file == SYM_LINE_NONE && row->inlined == SYM_LINE_NONE)) {
		strbuf_puts(out, "\t??:0");
		return;
	}
	add_level(out, l, row->file, row->line);
	for (uint32_t i = row->inlined; i != SYM_LINE_NONE; i = l->inlines[i].parent) {
		const struct sym_inline *in = &l->inlines[i];

		strbuf_printf(out, "\t%s", in->name);
		add_level(out, l, in->call_file, in->call_line);
	}
}

/* "FILE:LINE (discriminator N)" is "FILE:LINE". */
static void theirs(char *text, struct strbuf *out)
{
	char *colon, *end = strstr(text, " (disc");

	if (end)
		*end = '\0';
	colon = strrchr(text, ':');
	if (!colon)
		return;
	*colon = '\0';
	strbuf_putc(out, '\t');
	normalise(text, out);
	strbuf_printf(out, ":%d", atoi(colon + 1));
}

/* Without lines addr2line gives the name of the symbol table's file: "crt1.c:0". */
static bool is_from_symbols(const char *text)
{
	size_t len = strlen(text);

	return !strchr(text, '/') && len > 2 && !strcmp(text + len - 2, ":0");
}

/*
 * Binutils gives inlined functions without a linkage name that of a symbol around them,
 * depending on what it was asked before: these names say nothing.
 */
static bool is_same(const char *us, const char *them)
{
	for (bool name = false;; name = !name) {
		size_t a = strcspn(us, "\t"), b = strcspn(them, "\t");

		if ((a != b || strncmp(us, them, a) != 0) &&
		    (!name || !strncmp(us, "_Z", 2)))
			return false;
		us += a;
		them += b;
		if (!*us || !*them)
			return *us == *them;
		us++;
		them++;
	}
}

static void check(struct comparison *c, const struct place *p, struct strbuf *them)
{
	CLEANUP(strbuf_fini) struct strbuf us = { 0 };

	ours(c->l, p->off, &us);
	if (!strcmp(strbuf_str(&us), "\t??:0") && is_from_symbols(strbuf_str(them)))
		return;
	c->a.asked++;
	c->a.known += strcmp(strbuf_str(&us), "\t??:0") != 0;
	c->a.inlined += strchr(strbuf_str(&us) + 1, '\t') != NULL;
	if (!c->l->nr_inlines) /* not asked for, or not there: the line alone */
		strbuf_truncate(them, 1 + strcspn(strbuf_str(them) + 1, "\t"));
	if (!strcmp(strbuf_str(&us), strbuf_str(them)) ||
	    (c->binutils && is_same(strbuf_str(&us) + 1, strbuf_str(them) + 1)))
		return;
	if (c->a.differ++ < TOLD)
		fprintf(stderr, "0x%" PRIx64 "\n  ours  %s\n  theirs%s\n", p->vma,
			strbuf_str(&us), strbuf_str(them));
}

/* Pairs of lines: a function, then where in it; the last function is the real one. */
static void read_answers(struct comparison *c, FILE *f)
{
	CLEANUP(strbuf_fini) struct strbuf them = { 0 };
	CLEANUP(strbuf_fini) struct strbuf function = { 0 };
	CLEANUP(free_ptr) char *line = NULL;
	size_t cap = 0, at = 0;
	bool is_function = true;

	while (getline(&line, &cap, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (is_function && !strncmp(line, "0x", 2)) {
			if (at)
				check(c, &c->places.data[at - 1], &them);
			at++;
			strbuf_reset(&them);
			strbuf_reset(&function);
			continue;
		}
		if (is_function) {
			if (function.len)
				strbuf_printf(&them, "\t%s", strbuf_str(&function));
			strbuf_reset(&function);
			strbuf_puts(&function, line);
		} else {
			theirs(line, &them);
		}
		is_function = !is_function;
	}
	if (at)
		check(c, &c->places.data[at - 1], &them);
}

static void place_all(struct comparison *c, const struct sym_table *t, unsigned step)
{
	uint64_t end = 0, vma;

	for (size_t i = 0; i < t->nr_syms; i++) {
		const struct sym *s = &t->syms[i];
		uint64_t off = s->off > end ? s->off : end;

		for (; off < s->off + s->size; off += step) {
			struct place p = { .off = off };

			if (s->flags & SYM_PLT || !sym_vma(t, off, &vma))
				continue;
			p.vma = vma;
			if (vec_push(&c->places, p))
				abort();
		}
		end = off > end ? off : end;
	}
}

struct agreement addr2line_compare(const struct sym_lines *l,
				   const struct sym_table *table, const char *tool,
				   const char *path, unsigned step)
{
	struct comparison c = { .l = l, .binutils = *tool == 'a' };
	char in[] = "/tmp/opfs-a2l-XXXXXX", command[4096];
	int fd = mkstemp(in);
	FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;

	if (!f)
		abort();
	place_all(&c, table, step);
	vec_for(&c.places, p)
		fprintf(f, "0x%" PRIx64 "\n", p->vma);
	fclose(f);
	snprintf(command, sizeof(command), "%s -a -f -i -e '%s' <%s", tool, path, in);
	f = popen(command, "r");
	if (!f)
		abort();
	read_answers(&c, f);
	pclose(f);
	unlink(in);
	vec_fini(&c.places);
	return c.a;
}
