/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "libsym/dwarf/lines.h"
#include "libsym/helper/image.h"
#include "libsym/server/server.h"
#include "tests/unit/libsym/addr2line.h"

#define CC1 "inlined.cc inlined_other.cc"

static char dir[64];

static int run(const char *command)
{
	CLEANUP(strbuf_fini) struct strbuf all = { 0 };

	strbuf_printf(&all, "cd %s && { %s; } >log 2>&1", dir, command);
	return system(strbuf_str(&all));
}

/* A directory of its own with the sources of tests/programs. */
static void begin(void)
{
	CLEANUP(strbuf_fini) struct strbuf command = { 0 };
	CLEANUP(free_ptr) char *here = getcwd(NULL, 0);
	const char *top = getenv("OPFS_TOP");

	strcpy(dir, "/tmp/test_lines.XXXXXX");
	cr_assert_not_null(mkdtemp(dir));
	strbuf_printf(&command, "mkdir sub && cp %s/tests/programs/inlined* .",
		      top ? top : here);
	cr_assert_eq(run(strbuf_str(&command)), 0);
}

static void end(void)
{
	char command[sizeof(dir) + 16];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	cr_expect_eq(system(command), 0);
}

TestSuite(lines, .init = begin, .fini = end, .timeout = 1000);

static void build(const char *command)
{
	cr_assert_eq(run(command), 0, "%s", command);
}

static const char *in_dir(const char *name)
{
	static char path[sizeof(dir) + 64];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

/* A file of tests/data/dwarf.  Its size. */
static size_t read_data(const char *name, unsigned char *out, size_t max)
{
	const char *top = getenv("OPFS_TOP");
	char path[512];
	size_t size;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/data/dwarf/%s", top ? top : ".", name);
	f = fopen(path, "re");
	cr_assert(f, "%s", path);
	size = fread(out, 1, max, f);
	fclose(f);
	cr_assert(size > 64 && size < max);
	return size;
}

static void write_file(const char *name, const unsigned char *data, size_t size)
{
	FILE *f = fopen(in_dir(name), "we");

	cr_assert(f && fwrite(data, 1, size, f) == size && !fclose(f));
}

static struct sym_job job_of(const char *name)
{
	return (struct sym_job){ .kind = SYM_USER, .path = strdup(in_dir(name)) };
}

static struct sym_table *load_table(const struct sym_job *job)
{
	struct sym_table *t = NULL;
	struct err err = { 0 };

	cr_assert_eq(sym_table_load(job, &t, &err), 0, "%s", err.msg);
	return t;
}

/* Lines of all that the image maps. */
static struct sym_lines *load_all(const struct sym_job *job, const struct sym_table *t,
				  unsigned flags)
{
	struct sym_range *r = calloc(t->nr_sections + 1, sizeof(*r));
	struct sym_lines *l = NULL;
	struct err err = { 0 };

	for (size_t i = 0; i < t->nr_sections; i++)
		r[i] = (struct sym_range){ t->sections[i].off,
					   t->sections[i].off + t->sections[i].size };
	cr_assert_eq(sym_lines_load(job, r, t->nr_sections, flags, &l, &err), 0, "%s",
		     err.msg);
	free(r);
	return l;
}

/* @tool says of @reference what we say of @name. */
static void agree(const char *tool, const char *name, const char *reference)
{
	struct sym_job job = job_of(name);
	CLEANUP(sym_table_putp) struct sym_table *t = load_table(&job);
	CLEANUP(sym_lines_putp)
	struct sym_lines *l = load_all(&job, t, SYM_LINES_INLINES);
	struct agreement a = addr2line_compare(l, t, tool, in_dir(reference), 1);

	cr_expect_eq(l->state, SYM_OK, "%s", l->reason);
	cr_expect_str_eq(l->reason, "");
	cr_expect(a.asked > 100 && a.known > a.asked / 2, "%zu of %zu known", a.known,
		  a.asked);
	cr_expect_eq(a.differ, 0, "%s of %s: %zu of %zu differ", tool, reference,
		     a.differ, a.asked);
	cr_expect(a.inlined > 50 || !strstr(name, "O2"), "%zu inlined", a.inlined);
	free((char *)job.path);
}

struct recipe {
	char tool[16];
	char build[100];
};

ParameterizedTestParameters(lines, a_program_reads_as_addr2line_tells)
{
	static struct recipe recipes[] = {
		{ "llvm-addr2line", "g++ -g -O2 -o O2 " CC1 },
		{ "llvm-addr2line", "g++ -g -O0 -o O0 " CC1 },
		{ "llvm-addr2line", "g++ -g -O2 -no-pie -o O2 " CC1 },
		{ "llvm-addr2line", "g++ -g -O2 -shared -fPIC -o O2 " CC1 },
		{ "addr2line", "g++ -gdwarf-2 -O2 -o O2 " CC1 },
		{ "addr2line", "g++ -gdwarf-3 -O2 -o O2 " CC1 },
		{ "addr2line", "g++ -gdwarf-4 -O2 -o O2 " CC1 },
		{ "llvm-addr2line", "g++ -gdwarf-5 -O2 -gz -o O2 " CC1 },
		{ "addr2line", "clang++ -gdwarf-4 -O2 -o O2 " CC1 },
		{ "addr2line", "gcc -gdwarf-4 -O2 -Dcold=noinline -c -o O2 inlined.c" },
		{ "llvm-addr2line", "g++ -g -O3 -o O2 " CC1 },
		{ "llvm-addr2line", "clang++ -gdwarf-5 -O2 -o O2 " CC1 },
		{ "llvm-addr2line", "g++ -g -O2 -gz=zlib-gnu -o O2 " CC1 },
		{ "addr2line", "gcc -g -gz -O2 -Dcold=noinline -c -o O2 inlined.c" },
		{ "llvm-addr2line", "g++ -g -O2 -gdwarf64 -o O2 " CC1 },
		{ "llvm-addr2line", "g++ -g -O2 -flto -o O2 " CC1 },
		{ "llvm-addr2line", "g++ -g -O2 -ffunction-sections -Wl,--gc-sections "
				    "-DUNUSED -o O2 " CC1 },
	};

	return cr_make_param_array(struct recipe, recipes,
				   sizeof(recipes) / sizeof(recipes[0]));
}

ParameterizedTest(struct recipe *r, lines, a_program_reads_as_addr2line_tells)
{
	build(r->build);
	agree(r->tool, strstr(r->build, "-o O2") ? "O2" : "O0",
	      strstr(r->build, "-o O2") ? "O2" : "O0");
}

Test(lines, a_separate_debug_file_is_read_by_link)
{
	build("g++ -gdwarf-4 -O2 -o O2 " CC1
	      " && objcopy --only-keep-debug O2 O2.debug && "
	      "cp O2 whole && strip O2 && objcopy --add-gnu-debuglink=O2.debug O2");
	agree("addr2line", "O2", "whole");
}

Test(lines, what_zstd_packed_is_read)
{
	build("g++ -gdwarf-4 -O2 -o whole " CC1 " && cp whole O2 && "
	      "objcopy --compress-debug-sections=zstd O2");
	agree("addr2line", "O2", "whole");
}

Test(lines, what_dwz_moved_is_found)
{
	build("g++ -gdwarf-4 -O2 -o O2 " CC1 " && g++ -g -O1 -o other " CC1
	      " && cp O2 whole && dwz -m shared O2 other");
	agree("addr2line", "O2", "whole");
	build("g++ -gdwarf-4 -O2 -o O2 " CC1 " && dwz O2");
	agree("addr2line", "O2", "whole");
}

static void expect_reason(const char *name, const char *part, bool rows)
{
	struct sym_job job = job_of(name);
	CLEANUP(sym_table_putp) struct sym_table *t = load_table(&job);
	CLEANUP(sym_lines_putp)
	struct sym_lines *l = load_all(&job, t, SYM_LINES_INLINES);

	cr_expect_eq(l->state, SYM_BROKEN);
	cr_expect(strstr(l->reason, part), "%s", l->reason);
	cr_expect_eq(l->nr_rows != 0, rows);
	free((char *)job.path);
}

Test(lines, what_is_missing_is_told)
{
	build("g++ -g -O2 -o O2 " CC1 " && g++ -g -O1 -o other " CC1
	      " && dwz -m shared O2 other && rm shared");
	expect_reason("O2",
		      "/O2: source lines are incomplete: the file that its debug "
		      "information shares with others (dwz), ",
		      true);
	build("g++ -g -gz -O2 -o O2 " CC1 " && "
	      "off=$(readelf -SW O2 | sed -n 's/.*\\.debug_line  *PROGBITS  *[0-9a-f]*  "
	      "*\\([0-9a-f]*\\).*/\\1/p') && "
	      "printf 'xxxxxxxx' | dd of=O2 bs=1 conv=notrunc seek=$((0x$off + 40))");
	expect_reason("O2", "/O2: source lines are missing: .debug_line is damaged",
		      false);
}

/* The sanitizer tells who reads on. */
Test(lines, strings_end_with_their_section_at_the_latest)
{
	struct sym_job job;

	build("g++ -gdwarf-5 -O2 -o O2 " CC1 " && for s in str line_str; do "
	      "set -- $(readelf -SW O2 | sed -n \"s/.*\\.debug_$s  *PROGBITS  *[0-9a-f]* "
	      " *\\([0-9a-f]*\\) \\([0-9a-f]*\\).*/\\1 \\2/p\") && "
	      "printf x | dd of=O2 bs=1 conv=notrunc seek=$((0x$1 + 0x$2 - 1)) || exit; "
	      "done");
	job = job_of("O2");
	for (int packed = 0; packed < 3; packed++) {
		struct sym_table *t = load_table(&job);
		struct sym_lines *l = load_all(&job, t, SYM_LINES_INLINES);

		cr_expect_eq(l->state, SYM_OK, "%s", l->reason);
		cr_expect(l->nr_rows > 50);
		sym_lines_put(l);
		sym_table_put(t);
		build(packed ? "objcopy --compress-debug-sections=zlib-gnu O2 || true"
			     : "objcopy --compress-debug-sections=zlib O2");
	}
	free((char *)job.path);
}

Test(lines, split_dwarf_gives_lines_and_no_inlines)
{
	struct sym_job job;
	struct sym_table *t;
	struct sym_lines *l;
	struct agreement a;

	build("g++ -gdwarf-4 -O2 -o whole " CC1
	      " && g++ -g -gdwarf-4 -O2 -gsplit-dwarf -o O2 " CC1);
	job = job_of("O2");
	t = load_table(&job);
	l = load_all(&job, t, SYM_LINES_INLINES);
	a = addr2line_compare(l, t, "addr2line", in_dir("whole"), 1);
	cr_expect_eq(l->state, SYM_OK);
	cr_expect(a.known > 100 && !l->nr_inlines);
	cr_expect_eq(a.differ, 0);
	sym_lines_put(l);
	sym_table_put(t);
	free((char *)job.path);
}

Test(lines, a_stripped_program_says_why_there_are_none)
{
	struct sym_job job;
	struct sym_table *t;
	struct sym_lines *l;

	build("g++ -g -s -O2 -o O2 " CC1);
	job = job_of("O2");
	t = load_table(&job);
	l = load_all(&job, t, 0);
	cr_expect_eq(l->state, SYM_NO_SYMBOLS);
	cr_expect(strstr(l->reason, "/O2: no source lines: "), "%s", l->reason);
	cr_expect_eq(l->nr_rows, 0);
	sym_lines_put(l);
	sym_table_put(t);
	job.mtime = 1;
	cr_assert_eq(sym_lines_load(&job, NULL, 0, 0, &l, NULL), 0);
	cr_expect_eq(l->state, SYM_CHANGED);
	sym_lines_put(l);
	free((char *)job.path);
}

/* Bytes apart from each other, as the offsets of samples are. */
static size_t scattered(const struct sym_table *t, struct sym_range *out, size_t max,
			uint64_t step)
{
	size_t nr = 0;

	for (size_t i = 0; i < t->nr_syms && nr < max; i++)
		for (uint64_t off = t->syms[i].off;
		     off < t->syms[i].off + t->syms[i].size && nr < max; off += step)
			if (!nr || off >= out[nr - 1].end)
				out[nr++] = (struct sym_range){ off, off + 1 };
	return nr;
}

static bool same_row(const struct sym_lines *a, const struct sym_line *x,
		     const struct sym_lines *b, const struct sym_line *y)
{
	if (!x || !y)
		return x == y;
	if (x->line != y->line ||
	    (x->file == SYM_LINE_NONE) != (y->file == SYM_LINE_NONE) ||
	    (x->inlined == SYM_LINE_NONE) != (y->inlined == SYM_LINE_NONE))
		return false;
	return (x->file == SYM_LINE_NONE ||
		!strcmp(a->files[x->file], b->files[y->file])) &&
	       (x->inlined == SYM_LINE_NONE ||
		!strcmp(a->inlines[x->inlined].name, b->inlines[y->inlined].name));
}

Test(lines, single_bytes_get_what_the_whole_gets)
{
	enum { MAX = 20000 };
	CLEANUP(free_ptr) struct sym_range *r = calloc(MAX, sizeof(*r));
	struct sym_job job;
	struct sym_table *t;
	struct sym_lines *all, *some;
	size_t nr;

	build("g++ -g -O2 -o O2 " CC1);
	job = job_of("O2");
	t = load_table(&job);
	all = load_all(&job, t, SYM_LINES_INLINES);
	for (uint64_t step = 1; step < 40; step = step * 2 + 1) {
		nr = scattered(t, r, MAX, step);
		cr_assert_eq(sym_lines_load(&job, r, nr, SYM_LINES_INLINES, &some, NULL),
			     0);
		cr_assert(nr > 10 && some->nr_rows <= all->nr_rows + nr);
		for (size_t i = 0; i < nr; i++)
			cr_assert(same_row(all, sym_line_find(all, r[i].off), some,
					   sym_line_find(some, r[i].off)),
				  "offset 0x%lx", (unsigned long)r[i].off);
		cr_expect(!some->nr_rows ||
			  (some->rows[0].off >= r[0].off &&
			   some->rows[some->nr_rows - 1].end <= r[nr - 1].end));
		sym_lines_put(some);
	}
	sym_lines_put(all);
	sym_table_put(t);
	free((char *)job.path);
}

Test(lines, inlined_functions_alone_are_the_same)
{
	enum { MAX = 20000 };
	CLEANUP(free_ptr) struct sym_range *r = calloc(MAX, sizeof(*r));
	struct sym_lines *all, *some;
	size_t nr, inlined = 0;
	struct sym_job job;
	struct sym_table *t;

	build("g++ -g -O2 -o O2 " CC1 " && gcc -gdwarf-4 -O2 -c -o object.o inlined.c");
	for (int i = 0; i < 2; i++) {
		job = job_of(i ? "object.o" : "O2");
		t = load_table(&job);
		all = load_all(&job, t, SYM_LINES_INLINES);
		nr = scattered(t, r, MAX, 3);
		cr_assert_eq(sym_lines_load(&job, r, nr,
					    SYM_LINES_INLINES | SYM_LINES_ONLY_INLINES,
					    &some, NULL),
			     0);
		cr_expect_eq(some->nr_files, 0);
		for (size_t k = 0; k < nr; k++) {
			const struct sym_line *x = sym_line_find(all, r[k].off);
			const struct sym_line *y = sym_line_find(some, r[k].off);
			uint32_t a = x ? x->inlined : SYM_LINE_NONE;
			uint32_t b = y ? y->inlined : SYM_LINE_NONE;

			for (; a != SYM_LINE_NONE && b != SYM_LINE_NONE; inlined++) {
				cr_assert_str_eq(all->inlines[a].name,
						 some->inlines[b].name);
				a = all->inlines[a].parent;
				b = some->inlines[b].parent;
			}
			cr_assert(a == b, "offset 0x%lx", (unsigned long)r[k].off);
		}
		sym_lines_put(some);
		sym_lines_put(all);
		sym_table_put(t);
		free((char *)job.path);
	}
	cr_expect(inlined > 100);
}

Test(lines, paths_have_no_dots_in_them)
{
	struct sym_job job;
	struct sym_table *t;
	struct sym_lines *l;
	bool header = false;

	build("cd sub && g++ -g -O2 -o ../O2 ../inlined.cc .././/inlined_other.cc");
	job = job_of("O2");
	t = load_table(&job);
	l = load_all(&job, t, SYM_LINES_INLINES);
	for (size_t i = 0; i < l->nr_files; i++) {
		cr_expect(!strstr(l->files[i], "/.") && !strstr(l->files[i], "//"), "%s",
			  l->files[i]);
		header |= !strcmp(l->files[i], in_dir("inlined.h"));
	}
	cr_expect(header);
	sym_lines_put(l);
	sym_table_put(t);
	free((char *)job.path);
}

Test(lines, a_helper_tells_the_same_as_this_process)
{
	struct sym_server *server = sym_server_new(NULL);
	CLEANUP(free_ptr) char *exe = realpath("/proc/self/exe", NULL);
	struct sym_job self = { .kind = SYM_USER, .path = exe };
	struct sym_table *t = load_table(&self);
	struct sym_lines *here = load_all(&self, t, SYM_LINES_INLINES), *there = NULL;
	struct sym_range r = { 0, UINT64_MAX };
	struct err err = { 0 };

	cr_assert_eq(sym_server_lines(server, &self, &r, 1, SYM_LINES_INLINES, NULL,
				      &there, &err),
		     0, "%s", err.msg);
	cr_expect_eq(there->state, SYM_OK, "%s", there->reason);
	cr_assert_eq(here->nr_rows, there->nr_rows);
	cr_expect(here->nr_rows > 1000 && here->nr_inlines > 10);
	for (size_t i = 0; i < here->nr_rows; i++)
		cr_assert(same_row(here, &here->rows[i], there, &there->rows[i]));
	sym_lines_put(here);
	sym_lines_put(there);
	sym_table_put(t);
	sym_server_free(server);
}

/*
 * Bytes of files with DWARF changed at random.  libdw may die of them, but it is a helper
 * that dies: whoever asked gets lines or the reason why there are none.
 */
Test(lines, damaged_dwarf_does_no_harm)
{
	static const char *const files[] = { "clang",   "dwarf4", "dwarf5",
					     "dwarf64", "object", "packed" };
	enum { ROUNDS = 240, MAX = 1 << 16 };
	CLEANUP(free_ptr) unsigned char *bytes = malloc(MAX);
	struct sym_server *server;
	struct sym_range r = { 0, UINT64_MAX };
	struct sym_job job;
	unsigned damaged = 0, rows = 0;

#ifdef __SANITIZE_ADDRESS__
	cr_skip_test("the faults of libdw are not ours");
#endif
	server = sym_server_new(NULL);
	job = job_of("bad");
	srand(7);
	for (int i = 0; i < ROUNDS; i++) {
		struct sym_lines *l = NULL;
		size_t size = read_data(files[i % 6], bytes, MAX);

		for (int n = rand() % 20; n >= 0; n--)
			bytes[64 + (size_t)rand() % (size - 64)] = (unsigned char)rand();
		write_file("bad", bytes, size);
		cr_assert_eq(sym_server_lines(server, &job, &r, 1, SYM_LINES_INLINES,
					      NULL, &l, NULL),
			     0);
		cr_assert_eq(l->state == SYM_OK || l->state == SYM_UNCHECKED, !*l->reason,
			     "%s", l->reason);
		damaged += l->state == SYM_BROKEN;
		rows += l->nr_rows != 0;
		sym_lines_put(l);
	}
	cr_expect(damaged > ROUNDS / 20 && rows > ROUNDS / 4, "%u damaged, %u with rows",
		  damaged, rows);
	sym_server_free(server);
	free((char *)job.path);
}

/* Its lines begin at address 0 and are so many that they reach into the code. */
Test(lines, what_the_linker_left_out_is_not_taken_for_code)
{
	build("{ echo 'volatile int v; void unused(void) {'; seq -f 'v = %.0f;' 3000; "
	      "echo '}'; echo 'int main(void) {'; seq -f 'v += %.0f;' 30; echo '}'; } "
	      ">left_out.c && gcc -g -O2 -pie -fPIE -ffunction-sections "
	      "-Wl,--gc-sections -o O2 left_out.c");
	expect_reason("O2",
		      "/O2: source lines are missing where those of functions that the "
		      "linker left out overlap them",
		      false);
}

Test(lines, big_endian_files_are_read)
{
	build("clang --target=s390x-linux-gnu -g -O2 -Dcold=noinline -c -o O2 "
	      "inlined.c");
	agree("llvm-addr2line", "O2", "O2");
}
