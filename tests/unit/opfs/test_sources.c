/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/source/entries.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opfs/report/source/sums.h"
#include "tests/unit/opfs/fake.h"

/* ---- names of entries */

static struct sources *named(const char *const *names, size_t nr)
{
	struct sources *s = calloc(1, sizeof(*s));

	cr_assert_not_null(s);
	s->refs = 1;
	s->files = arena_calloc(&s->arena, nr + 1, sizeof(*s->files));
	s->nr_files = nr;
	for (size_t i = 0; i < nr; i++)
		s->files[i].name = names[i];
	cr_assert_eq(sources_name(s), 0);
	return s;
}

static const char *entry_of(const struct sources *s, const char *name)
{
	for (size_t i = 0; i < s->nr_files; i++)
		if (!strcmp(s->files[i].name, name))
			return s->files[i].entry;
	return "";
}

static void expect_entry(const char *name, const char *entry)
{
	struct sources *s = named(&name, 1);

	cr_expect_str_eq(s->files[0].entry, entry);
	cr_expect_eq(sources_find(s, entry), &s->files[0]);
	sources_put(s);
}

Test(sources, a_path_loses_its_first_slash_only)
{
	expect_entry("/usr/src/main.c", "usr/src/main.c");
	expect_entry("/usr//src/./main.c", "usr/src/main.c");
	expect_entry("/c++/a b/,%.h", "c++/a b/,%.h");
}

Test(sources, what_is_not_absolute_is_below_relative)
{
	expect_entry("main.c", "relative/main.c");
	expect_entry("", "relative/unnamed");
	expect_entry("/", "unnamed");
}

Test(sources, nothing_leads_out_of_the_directory)
{
	expect_entry("../../etc/passwd", "relative/%2E%2E/%2E%2E/etc/passwd");
	expect_entry("/a/../b", "a/%2E%2E/b");
	expect_entry("/..", "%2E%2E");
}

static char *long_name(const char *prefix, size_t len, const char *suffix)
{
	char *name = malloc(strlen(prefix) + len + strlen(suffix) + 1);

	cr_assert_not_null(name);
	memset(stpcpy(name, prefix), 'x', len);
	strcpy(name + strlen(prefix) + len, suffix);
	return name;
}

Test(sources, long_components_are_cut_and_stay_apart)
{
	char *a = long_name("/src/", 4000, "a.c"), *b = long_name("/src/", 4000, "b.c");
	const char *names[] = { a, b };
	struct sources *s = named(names, 2);

	cr_expect_str_neq(s->files[0].entry, s->files[1].entry);
	for (size_t i = 0; i < 2; i++) {
		const char *base = strchr(s->files[i].entry, '/') + 1;

		cr_expect_leq(strlen(base), 200);
		cr_expect_eq(base[strlen(base) - 9], '~');
	}
	sources_put(s);
	free(a);
	free(b);
}

Test(sources, deep_paths_are_one_name)
{
	char deep[4096] = "";
	const char *name = deep;
	struct sources *s;

	for (int i = 0; i < 2000; i++)
		strcat(deep, "/a");
	s = named(&name, 1);
	cr_expect_eq(strncmp(s->files[0].entry, "long~", 5), 0);
	cr_expect_eq(strlen(s->files[0].entry), 13);
	sources_put(s);
}

Test(sources, names_that_read_the_same_stay_apart)
{
	const char *names[] = { "/relative/x.c", "x.c", "/relative//x.c",
				"relative/x.c" };
	struct sources *s = named(names, 4);

	for (size_t i = 1; i < 4; i++)
		cr_expect_lt(strcmp(s->files[i - 1].entry, s->files[i].entry), 0);
	for (size_t i = 0; i < 4; i++)
		cr_expect_eq(sources_find(s, s->files[i].entry), &s->files[i]);
	sources_put(s);
}

Test(sources, no_file_is_a_directory_of_another)
{
	const char *names[] = { "/a/b", "/a/b/c.c", "/a/b-c", "/a/b/d/e.c", "/a" };
	struct sources *s = named(names, 5);

	for (size_t i = 0; i < 5; i++) {
		size_t len = strlen(s->files[i].entry);

		for (size_t k = 0; k < 5; k++)
			cr_expect(i == k ||
					  strncmp(s->files[i].entry, s->files[k].entry,
						  len) != 0 ||
					  s->files[k].entry[len] != '/',
				  "%s is above %s", s->files[i].entry, s->files[k].entry);
	}
	cr_expect_str_eq(entry_of(s, "/a"), "a");
	sources_put(s);
}

/* ---- sums of lines that nobody vouches for */

static const struct fake_event event = { "CYCLES", 1000, 0, 41 };

struct made {
	struct fake f;
	struct options o;
	struct report_job job;
	struct source_sums b;
};

static struct sym_lines *lines_of(const struct sym_line *rows, size_t nr,
				  const struct sym_inline *inlines, size_t nr_inlines)
{
	static const char *const files[] = { "/src/a.c", "/src/b.h", "" };
	struct sym_lines *l = calloc(1, sizeof(*l));

	cr_assert_not_null(l);
	*l = (struct sym_lines){ .files = files,
				 .rows = rows,
				 .inlines = inlines,
				 .nr_files = 3,
				 .nr_rows = nr,
				 .nr_inlines = nr_inlines,
				 .refs = 1 };
	return l;
}

/* A profile of one row with a sample on each of @nr offsets from 0 on. */
static void begin(struct made *m, size_t nr, struct sym_lines *lines)
{
	struct profile_row *row;
	struct profile *p;
	uint64_t *hits;

	fake_init(&m->f);
	fake_file(&m->f, "/bin/a", "/bin/a", &event, nr);
	p = fake_load(&m->f, PROFILE_SYMBOLS);
	hits = arena_calloc(&p->arena, nr, 2 * sizeof(*hits));
	for (size_t i = 0; i < nr; i++) {
		hits[i] = i;
		hits[nr + i] = 1;
	}
	row = &p->rows[0];
	row->hits = hits;
	row->nr_hits = nr;
	row->samples[0] = nr;
	m->o = (struct options){ .inlines = true };
	m->job = (struct report_job){ .p = p, .o = &m->o, .path = "current" };
	m->b = (struct source_sums){ .job = &m->job, .p = p, .nr = p->nr_classes };
	m->b.s = calloc(1, sizeof(*m->b.s));
	m->b.s->refs = 1;
	m->b.s->totals = arena_calloc(&m->b.s->arena, 1, sizeof(uint64_t));
	m->b.rest = calloc(p->cat->nr_images + 1, sizeof(uint64_t));
	m->b.run = calloc(2, sizeof(uint64_t));
	m->b.lines = lines_new(p);
	lines_set(m->b.lines, row->image, lines);
	cr_assert_eq(source_sums_add(&m->b), 0);
}

static void end(struct made *m)
{
	struct profile *p = (struct profile *)m->job.p;

	source_sums_fini(&m->b);
	sources_put(m->b.s);
	profile_put(p);
	fake_fini(&m->f);
}

static uint64_t sum(const struct made *m)
{
	uint64_t n = m->b.rest[0];

	for (size_t i = 0; i < m->b.sums.len; i++)
		n += m->b.counts.data[m->b.sums.data[i].at];
	return n;
}

Test(sources, every_sample_is_in_one_line_or_in_none)
{
	static const struct sym_line rows[] = {
		{ 0, 4, 0, 7, SYM_LINE_NONE },  { 4, 6, 1, 3, SYM_LINE_NONE },
		{ 6, 7, 0, 7, SYM_LINE_NONE },  { 8, 9, SYM_LINE_NONE, 1, SYM_LINE_NONE },
		{ 9, 10, 2, 1, SYM_LINE_NONE }, { 10, 11, 0, 0, SYM_LINE_NONE },
	};
	struct made m;

	begin(&m, 13, lines_of(rows, 6, NULL, 0));
	cr_expect_eq(sum(&m), 13);
	cr_expect_eq(m.b.rest[0], 5, "behind the rows, between them, and without a file");
	cr_expect_eq(m.b.sums.len, 3);
	cr_expect_eq(m.b.counts.data[m.b.sums.data[0].at], 5, "line 7 is twice there");
	end(&m);
}

Test(sources, calls_count_again_and_a_function_in_itself_once)
{
	static const struct sym_inline inlines[] = {
		{ "outer", SYM_LINE_NONE, 0, 5 },
		{ "middle", 0, 1, 9 },
		{ "middle", 1, 1, 9 },
	};
	static const struct sym_line rows[] = { { 0, 8, 1, 2, 2 } };
	struct made m;

	begin(&m, 8, lines_of(rows, 1, inlines, 3));
	cr_expect_eq(sum(&m), 8);
	cr_assert_eq(m.b.calls.len, 2);
	for (size_t i = 0; i < 2; i++)
		cr_expect_eq(m.b.counts.data[m.b.calls.data[i].at], 8);
	end(&m);
}

Test(sources, bad_indices_and_circles_do_no_harm)
{
	static const struct sym_inline inlines[] = {
		{ "a", 1, 77, 5 },
		{ "b", 0, 0, 5 },
		{ "c", 2, 0, 6 },
		{ "d", 99, 1, 7 },
	};
	static const struct sym_line rows[] = {
		{ 0, 1, 99, 1, 0 }, { 1, 2, 0, 1, 1 }, { 2, 3, 0, 1, 2 },
		{ 3, 4, 0, 1, 3 },  { 4, 5, 0, 1, 4 }, { 5, 6, 0, UINT32_MAX, 0 },
	};
	struct made m;

	begin(&m, 6, lines_of(rows, 6, inlines, 4));
	cr_expect_eq(sum(&m), 6);
	end(&m);
}
