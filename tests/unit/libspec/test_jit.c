/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "libspec/jit/jit_file.h"
#include "libspec/jit/jitdump.h"
#include "libspec/jit/perf_map.h"
#include "tests/unit/libspec/scratch.h"

static void read_map(const char *text, struct spec_jit_list *l)
{
	cr_assert_eq(spec_jit_perf_map(text, strlen(text), l), 0);
}

static void expect_lines(const struct spec_jit_list *l, const char *want)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	spec_jit_lines(l, 0, SIZE_MAX, &text);
	cr_expect_str_eq(strbuf_str(&text), want);
}

/* ---- maps */

Test(jit, takes_lines_as_node_java_and_python_write_them)
{
	CLEANUP(spec_jit_list_fini) struct spec_jit_list l = { 0 };

	read_map("35440 b5 LazyCompile:*work /a b.js:1:15\n"
		 "0x00007f10 0x0000000000000020    void Main.run(int, long)\n"
		 "7F20 b py::f:/x.py\r\n",
		 &l);
	expect_lines(&l, "35440 b5 LazyCompile:*work /a b.js:1:15\n"
			 "7f10 20 void Main.run(int, long)\n"
			 "7f20 b py::f:/x.py\n");
	cr_expect_eq(l.bad, 0);
}

Test(jit, counts_lines_that_are_no_entries_and_goes_on)
{
	CLEANUP(spec_jit_list_fini) struct spec_jit_list l = { 0 };

	read_map("zz 1 f\n1\n1 2\n1 2 \n1 0 empty\nffffffffffffffff 2 beyond\n"
		 "11111111111111111 1 too_long\n-1 2 f\n\n10 2 good\n20 2 unfinished",
		 &l);
	expect_lines(&l, "10 2 good\n");
	cr_expect_eq(l.bad, 8, "%llu", (unsigned long long)l.bad);
}

struct line {
	uint64_t start, size;
	char name[16];
	int nr;
};

static int see_line(void *ctx, uint64_t start, uint64_t size, const char *name,
		    size_t len)
{
	struct line *l = ctx;

	*l = (struct line){ .start = start, .size = size, .nr = l->nr + 1 };
	memcpy(l->name, name, len < sizeof(l->name) ? len : sizeof(l->name) - 1);
	return l->nr == 2 ? -EINTR : 0;
}

Test(jit, hands_out_lines_of_a_map_until_told_to_end)
{
	static const char map[] = "# a\n10 2 a\nno\n0x20 b  py::f\r\n30 2 c\n";
	struct line l = { 0 };
	uint64_t bad = 0;

	cr_expect_eq(spec_perf_map_read(map, strlen(map), see_line, &l, &bad), -EINTR);
	cr_expect(l.nr == 2 && l.start == 0x20 && l.size == 0xb);
	cr_expect_str_eq(l.name, "py::f");
	cr_expect_eq(bad, 1);
}

Test(jit, replaces_control_bytes_and_cuts_long_names)
{
	CLEANUP(spec_jit_list_fini) struct spec_jit_list l = { 0 };
	static const char evil[] = "10 2 a\033[2J\tb\0c\n";
	char longest[5 + 2000 + 2] = "10 2 ";

	cr_assert_eq(spec_jit_perf_map(evil, sizeof(evil) - 1, &l), 0);
	cr_expect_str_eq(l.codes.data[0].name, "a?[2J?b?c");
	memset(longest + 5, 'x', 2000);
	/* a character of two bytes that would be cut in the middle is left out */
	memcpy(longest + 5 + SPEC_JIT_NAME_MAX - 1, "\xc3\xa4", 2);
	longest[2005] = '\n';
	read_map(longest, &l);
	cr_expect_eq(strlen(l.codes.data[1].name), SPEC_JIT_NAME_MAX - 1);
	cr_expect_eq(l.cut, 1);
}

Test(jit, takes_a_million_entries_and_counts_the_others)
{
	CLEANUP(spec_jit_list_fini) struct spec_jit_list l = { 0 };

	for (uint64_t i = 0; i < SPEC_JIT_MAX_CODES + 5; i++)
		cr_assert_eq(spec_jit_add(&l, i * 16, 16, "f", 1), 0);
	cr_expect_eq(l.codes.len, SPEC_JIT_MAX_CODES);
	cr_expect_eq(l.too_many, 5);
}

Test(jit, writes_as_many_lines_as_fit)
{
	CLEANUP(spec_jit_list_fini) struct spec_jit_list l = { 0 };
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };

	read_map("10 2 a\n20 2 bb\n30 2 c\n", &l);
	cr_expect_eq(spec_jit_lines(&l, 0, 14, &out), 1);
	cr_expect_eq(spec_jit_lines(&l, 1, 8, &out), 2);
	cr_expect_eq(spec_jit_lines(&l, 2, 6, &out), 2);
	cr_expect_eq(spec_jit_lines(&l, 2, 99, &out), 3);
	cr_expect_str_eq(strbuf_str(&out), "10 2 a\n20 2 bb\n30 2 c\n");
}

/* ---- overlaps */

Test(jit, lets_the_last_entry_win_where_entries_overlap)
{
	CLEANUP(spec_jit_list_fini) struct spec_jit_list l = { 0 };
	uint64_t lost;

	read_map("100 100 old\n"
		 "400 10 apart\n"
		 "140 20 middle\n"
		 "1f0 20 tail\n"
		 "f0 12 head\n"
		 "400 10 again\n",
		 &l);
	cr_assert_eq(spec_jit_settle(&l, &lost), 0);
	expect_lines(&l, "f0 12 head\n102 3e old\n140 20 middle\n160 90 old\n"
			 "1f0 20 tail\n400 10 again\n");
	cr_expect_eq(lost, 2);
}

Test(jit, settles_as_painting_byte_by_byte_does)
{
	enum { BYTES = 200, ENTRIES = 40, ROUNDS = 300 };

	srandom(1);
	for (int round = 0; round < ROUNDS; round++) {
		CLEANUP(spec_jit_list_fini) struct spec_jit_list l = { 0 };
		char painted[BYTES + 64] = { 0 }, found[BYTES + 64] = { 0 };

		for (int i = 0; i < ENTRIES; i++) {
			size_t at = (size_t)random() % BYTES, n = 1 + random() % 60;
			char name = (char)('0' + i);

			memset(painted + at, name, n);
			cr_assert_eq(spec_jit_add(&l, at, n, &name, 1), 0);
		}
		cr_assert_eq(spec_jit_settle(&l, NULL), 0);
		for (size_t i = 0; i < l.codes.len; i++) {
			const struct spec_jit_code *c = &l.codes.data[i];

			if (i)
				cr_assert_geq(c->start, c[-1].start + c[-1].size);
			memset(found + c->start, c->name[0], c->size);
		}
		cr_assert(!memcmp(painted, found, sizeof(painted)));
	}
}

/* ---- jitdump */

static void u32(struct strbuf *b, uint32_t v)
{
	strbuf_add(b, &v, sizeof(v));
}

static void u64(struct strbuf *b, uint64_t v)
{
	strbuf_add(b, &v, sizeof(v));
}

static void dump_header(struct strbuf *b)
{
	u32(b, 0x4a695444);
	u32(b, 1);
	u32(b, 40);
	u32(b, 62);
	u32(b, 0);
	u32(b, 7);
	u64(b, 0);
	u64(b, 0);
}

static void record(struct strbuf *b, uint32_t id, const struct strbuf *body)
{
	u32(b, id);
	u32(b, (uint32_t)body->len + 16);
	u64(b, 0);
	strbuf_add(b, strbuf_str(body), body->len);
}

static void dump_load(struct strbuf *b, uint64_t addr, uint64_t index, const char *name)
{
	CLEANUP(strbuf_fini) struct strbuf body = { 0 };

	u64(&body, 0);
	u64(&body, addr);
	u64(&body, addr);
	u64(&body, 4);
	u64(&body, index);
	strbuf_add(&body, name, strlen(name) + 1);
	strbuf_add(&body, "\xc3\x90\x90\x90", 4);
	record(b, 0, &body);
}

static void dump_move(struct strbuf *b, uint64_t from, uint64_t to, uint64_t index)
{
	CLEANUP(strbuf_fini) struct strbuf body = { 0 };

	u64(&body, 0);
	u64(&body, from);
	u64(&body, from);
	u64(&body, to);
	u64(&body, 4);
	u64(&body, index);
	record(b, 1, &body);
}

static void dump_unwinding(struct strbuf *b, uint64_t header, const char *bytes)
{
	CLEANUP(strbuf_fini) struct strbuf body = { 0 };

	u64(&body, strlen(bytes));
	u64(&body, header);
	u64(&body, 64);
	strbuf_puts(&body, bytes);
	record(b, 4, &body);
}

struct seen {
	struct spec_jitdump_load loads[4];
	struct spec_jitdump_unwind unwind[4];
	struct spec_jitdump_move move;
	size_t nr;
};

static int see_load(void *ctx, const struct spec_jitdump_load *load)
{
	struct seen *s = ctx;

	cr_assert_lt(s->nr, 4);
	if (load->unwind)
		s->unwind[s->nr] = *load->unwind;
	s->loads[s->nr++] = *load;
	return 0;
}

static int see_move(void *ctx, const struct spec_jitdump_move *move)
{
	((struct seen *)ctx)->move = *move;
	return 0;
}

Test(jit, hands_out_what_a_jitdump_has)
{
	CLEANUP(strbuf_fini) struct strbuf b = { 0 };
	struct seen s = { 0 };
	const struct spec_jitdump_visit visit = { see_load, see_move, &s };
	struct spec_jitdump_header h;
	uint64_t bad;

	dump_header(&b);
	dump_unwinding(&b, 3, "framehdr");
	dump_load(&b, 0x1000, 1, "one");
	dump_load(&b, 0x2000, 2, "two");
	dump_move(&b, 0x1000, 0x3000, 1);
	cr_assert_eq(spec_jitdump_read(b.data, b.len, &h, &visit, &bad, NULL), 0);
	cr_expect_eq(h.elf_machine, 62);
	cr_expect_eq(h.pid, 7);
	cr_assert_eq(s.nr, 2);
	cr_expect_eq(s.loads[0].addr, 0x1000);
	cr_expect(!memcmp(s.loads[0].code, "\xc3\x90\x90\x90", 4));
	cr_assert(s.loads[0].unwind);
	cr_expect_eq(s.unwind[0].eh_frame_len, 5);
	cr_expect(!memcmp(s.unwind[0].eh_frame, "frame", 5));
	cr_expect_eq(s.unwind[0].eh_frame_hdr_len, 3);
	cr_expect(!memcmp(s.unwind[0].eh_frame_hdr, "hdr", 3));
	cr_expect_eq(s.unwind[0].mapped, 64);
	/* it is of the next piece of code, and of no other */
	cr_expect_null(s.loads[1].unwind);
	cr_expect_eq(s.move.to, 0x3000);
	cr_expect_eq(bad, 0);
}

Test(jit, names_code_of_a_jitdump_also_where_it_moved)
{
	CLEANUP(strbuf_fini) struct strbuf b = { 0 };
	CLEANUP(spec_jit_list_fini) struct spec_jit_list l = { 0 };

	dump_header(&b);
	dump_load(&b, 0x1000, 1, "one");
	dump_move(&b, 0x1000, 0x3000, 1);
	dump_move(&b, 0x1000, 0x4000, 9);
	cr_assert_eq(spec_jit_jitdump(b.data, b.len, &l, NULL), 0);
	expect_lines(&l, "1000 4 one\n3000 4 one\n");
	cr_expect_eq(l.bad, 1);
}

Test(jit, keeps_the_name_of_code_that_moves_once)
{
	CLEANUP(strbuf_fini) struct strbuf b = { 0 };
	CLEANUP(spec_jit_list_fini) struct spec_jit_list l = { 0 };
	char name[SPEC_JIT_NAME_MAX + 1] = { 0 };

	memset(name, 'A', SPEC_JIT_NAME_MAX);
	dump_header(&b);
	dump_load(&b, 0x1000, 1, name);
	for (uint64_t i = 0; i < 10000; i++)
		dump_move(&b, 0x1000, 0x2000 + i * 2, 1);
	cr_assert_eq(spec_jit_jitdump(b.data, b.len, &l, NULL), 0);
	cr_expect_eq(l.codes.len, 10001);
	cr_expect_str_eq(l.codes.data[10000].name, name);
	cr_assert_eq(spec_jit_settle(&l, NULL), 0);
	cr_expect_lt(l.names.total, 1 << 16);
}

Test(jit, refuses_a_damaged_jitdump_and_keeps_what_came_before)
{
	CLEANUP(strbuf_fini) struct strbuf b = { 0 };
	CLEANUP(spec_jit_list_fini) struct spec_jit_list l = { 0 };
	struct err err = { 0 };

	dump_header(&b);
	dump_load(&b, 0x1000, 1, "one");
	u32(&b, 0);
	u32(&b, 3); /* shorter than its own header */
	u64(&b, 0);
	cr_expect_eq(spec_jit_jitdump(b.data, b.len, &l, &err), -EBADMSG);
	cr_expect(strstr(err.msg, "a record of 3 bytes"), "%s", err.msg);
	expect_lines(&l, "1000 4 one\n");
	cr_expect_eq(spec_jit_jitdump("garbage", 7, &l, &err), -EBADMSG);
	b.data[4] = 9;
	cr_expect_eq(spec_jit_jitdump(b.data, b.len, &l, &err), -EBADMSG);
	cr_expect(strstr(err.msg, "version 9"), "%s", err.msg);
}

Test(jit, reads_every_beginning_of_a_jitdump)
{
	CLEANUP(strbuf_fini) struct strbuf b = { 0 };

	dump_header(&b);
	dump_unwinding(&b, 30, "header longer than all");
	dump_load(&b, 0x1000, 1, "one");
	dump_move(&b, 0x1000, 0x3000, 1);
	for (size_t len = 40; len <= b.len; len++) {
		CLEANUP(spec_jit_list_fini) struct spec_jit_list l = { 0 };
		CLEANUP(free_ptr) char *exact = malloc(len);

		cr_assert(exact);
		memcpy(exact, b.data, len);
		cr_expect_eq(spec_jit_jitdump(exact, len, &l, NULL), 0);
		cr_expect_leq(l.codes.len, 2);
	}
}

/* ---- the session's file */

static uint64_t taken = SPEC_JIT_NOT_COUNTED; /* each test is a process of its own */

static int memory_file(const char *text)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	cr_assert(fd >= 0 && !file_write_all(fd, text, strlen(text)));
	return fd;
}

Test(jit, adds_to_the_file_of_a_process_and_reads_it)
{
	CLEANUP(spec_jit_list_fini) struct spec_jit_list l = { 0 };
	CLEANUP(close_fd) int first = memory_file("1000 10 a\n1010 10 b\n");
	CLEANUP(close_fd) int second = memory_file("1010 10 c\n");
	struct scratch s = scratch_new();
	uint64_t lost;
	struct stat st;

	umask(0);
	cr_expect_eq(spec_jit_read(s.fd, 5, &l, NULL, NULL, NULL), -ENOENT);
	cr_assert_eq(spec_jit_append(s.fd, 5, first, &taken, NULL), 0);
	cr_assert_eq(spec_jit_append(s.fd, 5, second, &taken, NULL), 0);
	cr_assert_eq(spec_jit_read(s.fd, 5, &l, &st, &lost, NULL), 0);
	expect_lines(&l, "1000 10 a\n1010 10 c\n");
	cr_expect_eq(lost, 1);
	cr_expect_eq(st.st_mode & 07777, SPEC_JIT_FILE_MODE);
	scratch_fini(&s);
}

Test(jit, refuses_another_file_and_follows_no_link)
{
	CLEANUP(spec_jit_list_fini) struct spec_jit_list l = { 0 };
	CLEANUP(close_fd) int from = memory_file("1000 10 a\n");
	struct err err = { 0 };
	struct scratch s = scratch_new();

	cr_expect_eq(spec_jit_parse("1000 10 a\n", 10, &l, NULL, &err), -EBADMSG);
	cr_assert_eq(mkdirat(s.fd, "jit", 0755), 0);
	cr_assert_eq(symlinkat("../elsewhere", s.fd, "jit/5"), 0);
	cr_expect_eq(spec_jit_append(s.fd, 5, from, &taken, &err), -ELOOP);
	cr_expect_eq(spec_jit_read(s.fd, 5, &l, NULL, NULL, &err), -ELOOP);
	scratch_fini(&s);
}

Test(jit, goes_on_after_a_line_that_was_cut_short)
{
	CLEANUP(spec_jit_list_fini) struct spec_jit_list l = { 0 };
	CLEANUP(close_fd) int more = memory_file("1000 10 a\n");
	struct scratch s = scratch_new();

	cr_assert_eq(mkdirat(s.fd, "jit", 0755), 0);
	cr_assert_eq(file_replace(s.fd, "jit/5", SPEC_JIT_HEADER "20", 15, 0640, 0, NULL),
		     0);
	cr_assert_eq(spec_jit_append(s.fd, 5, more, &taken, NULL), 0);
	cr_assert_eq(spec_jit_read(s.fd, 5, &l, NULL, NULL, NULL), 0);
	expect_lines(&l, "1000 10 a\n");
	cr_expect_eq(l.bad, 1);
	scratch_fini(&s);
}

/* A file of names that takes so many bytes, but nothing of the disk. */
static void make_long_file(struct scratch *s, const char *path, off_t bytes)
{
	CLEANUP(close_fd) int fd = -1;

	mkdirat(s->fd, "jit", 0755);
	cr_assert_eq(file_replace(s->fd, path, SPEC_JIT_HEADER, 13, 0640, 0, NULL), 0);
	fd = openat(s->fd, path, O_WRONLY | O_CLOEXEC);
	cr_assert(fd >= 0 && !ftruncate(fd, bytes));
}

Test(jit, adds_the_lines_that_a_file_has_room_for_and_counts_the_others)
{
	CLEANUP(close_fd) int more = memory_file("1000 10 a\n1010 10 b\n1020 10 c\n");
	struct scratch s = scratch_new();
	struct err err = { 0 };
	char end[22] = { 0 };
	int fd;

	make_long_file(&s, "jit/5", SPEC_JIT_LINES_MAX - 25);
	cr_expect_eq(spec_jit_append(s.fd, 5, more, &taken, &err), -EFBIG);
	cr_expect(strstr(err.msg, "jit/5: 1 entries left out: names of a process may "),
		  "%s", err.msg);
	fd = openat(s.fd, "jit/5", O_RDONLY | O_CLOEXEC);
	cr_assert_eq(pread(fd, end, 21, SPEC_JIT_LINES_MAX - 25), 21);
	cr_expect_str_eq(end, "\n1000 10 a\n1010 10 b\n");
	close(fd);
	cr_expect_eq(spec_jit_append(s.fd, 5, more, &taken, &err), -EFBIG);
	cr_expect(strstr(err.msg, "jit/5: 3 entries"), "%s", err.msg);
	scratch_fini(&s);
}

Test(jit, makes_no_file_without_lines_when_the_session_has_enough)
{
	CLEANUP(close_fd) int more = memory_file("1000 10 a\n1010 10 b\n");
	struct scratch s = scratch_new();
	struct err err = { 0 };
	off_t room = 15; /* for the first line */
	struct stat st;

	for (int i = 1; i <= 4; i++) {
		char path[SPEC_JIT_PATH];

		spec_jit_path((uint32_t)i, path);
		make_long_file(&s, path, SPEC_JIT_SESSION_MAX / 4 - (i == 1 ? room : 0));
	}
	cr_expect_eq(spec_jit_append(s.fd, 9, more, &taken, &err), -EFBIG);
	cr_expect(strstr(err.msg, "jit/9: 1 entries left out: names of a session may "),
		  "%s", err.msg);
	cr_assert_eq(fstatat(s.fd, "jit/9", &st, 0), 0);
	cr_expect_eq(st.st_size, 13 + 10);
	cr_expect_eq(spec_jit_append(s.fd, 10, more, &taken, &err), -EFBIG);
	cr_expect_eq(fstatat(s.fd, "jit/10", &st, 0), -1);
	scratch_fini(&s);
}

Test(jit, leaves_no_file_when_writing_fails)
{
	CLEANUP(close_fd) int more = memory_file("1000 10 a\n1010 10 b\n");
	const struct rlimit few = { 20, 20 };
	struct scratch s = scratch_new();
	struct stat st;

	signal(SIGXFSZ, SIG_IGN);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &few), 0);
	cr_expect_eq(spec_jit_append(s.fd, 5, more, &taken, NULL), -EFBIG);
	cr_expect_eq(fstatat(s.fd, "jit/5", &st, 0), -1);
	scratch_fini(&s);
}
