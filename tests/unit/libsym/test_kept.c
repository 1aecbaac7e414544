/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/cred.h"
#include "base/file.h"
#include "libsym/wire/kept.h"
#include "libsym/wire/lines_wire.h"
#include "libsym/wire/wire.h"

static const struct build_id id = { .len = 2, .bytes = { 0xab, 0xcd } };
static const struct sym_job job = { .path = "/bin/p", .build_id = id };

static void add_table(struct strbuf *out)
{
	CLEANUP(sym_build_fini) struct sym_build b = { .source = SYM_FROM_SYMTAB };
	struct sym_cand c = { .off = 16, .size = 8, .limit = 1000, .name = "one" };

	strbuf_puts(&b.path, "/bin/p");
	b.build_id = id;
	b.mtime = 7;
	sym_build_add(&b, &c);
	cr_assert_eq(sym_build_finish(&b), 0);
	cr_assert_eq(sym_wire_encode(&b, out), 0);
}

static void add_lines(struct strbuf *out)
{
	CLEANUP(sym_lines_build_fini) struct sym_lines_build b = { .state = SYM_OK };
	struct sym_wire_inline in = { .parent = SYM_LINE_NONE, .call_line = 9 };
	struct sym_line row = { .off = 16, .end = 20, .line = 7 };
	int rc = vec_push(&b.files, 0);

	strbuf_add(&b.names, "/src/a.c", 9);
	rc |= vec_push(&b.inlines, in);
	rc |= vec_push(&b.rows, row);
	cr_assert_eq(rc | sym_lines_pack(&b, out), 0);
}

static struct strbuf make_file(void)
{
	CLEANUP(strbuf_fini) struct strbuf table = { 0 }, lines = { 0 };
	const struct sym_range ranges[] = { { 16, 24 }, { 30, 31 } };
	struct strbuf out = { 0 };
	struct sym_kept k = { .ranges = ranges, .nr_ranges = 2 };

	add_table(&table);
	add_lines(&lines);
	k.table = table.data;
	k.table_len = table.len;
	k.lines = lines.data;
	k.lines_len = lines.len;
	cr_assert_eq(sym_kept_encode(&k, &out), 0);
	return out;
}

Test(kept, symbols_ranges_and_lines_survive)
{
	struct strbuf bytes = make_file();
	CLEANUP(sym_kept_fini) struct sym_kept k = { 0 };
	CLEANUP(sym_table_putp) struct sym_table *t = NULL;
	CLEANUP(sym_lines_putp) struct sym_lines *l = NULL, *plain = NULL;

	cr_assert_eq(sym_kept_decode(&bytes, &k, NULL), 0);
	cr_assert_eq(sym_kept_table(&k, &job, &t, NULL), 0);
	cr_expect_str_eq(sym_name(sym_find(t, 17)), "one");
	cr_expect(k.nr_ranges == 2 && k.ranges[1].off == 30);
	cr_assert_eq(sym_kept_lines(&k, SYM_LINES_INLINES, &l, NULL), 0);
	cr_expect_eq(sym_line_find(l, 17)->line, 7);
	cr_expect_eq(sym_line_find(l, 17)->inlined, 0);
	cr_assert_eq(sym_kept_lines(&k, 0, &plain, NULL), 0);
	cr_expect_eq(sym_line_find(plain, 17)->inlined, SYM_LINE_NONE);
}

static int decode(const char *data, size_t len)
{
	CLEANUP(strbuf_fini) struct strbuf bytes = { 0 };
	CLEANUP(sym_kept_fini) struct sym_kept k = { 0 };

	strbuf_add(&bytes, data, len);
	return sym_kept_decode(&bytes, &k, NULL);
}

Test(kept, no_byte_can_change_and_none_be_missing)
{
	CLEANUP(strbuf_fini) struct strbuf file = make_file();

	cr_assert_eq(decode(file.data, file.len), 0);
	for (size_t len = 0; len < file.len; len++)
		cr_assert_eq(decode(file.data, len), -EBADMSG, "%zu bytes", len);
	for (size_t i = 0; i < file.len; i++) {
		if (i >= 12 && i < 16) /* the zero in the header */
			continue;
		file.data[i] ^= 1;
		cr_assert_eq(decode(file.data, file.len), -EBADMSG, "byte %zu", i);
		file.data[i] ^= 1;
	}
	strbuf_add(&file, "12345678", 8);
	cr_expect_eq(decode(file.data, file.len), -EBADMSG);
}

Test(kept, names_of_another_binary_are_refused)
{
	struct sym_job other = { .path = "/bin/p",
				 .build_id = { .len = 2, .bytes = { 1, 2 } } };
	struct sym_job no_id = { .path = "/bin/p", .mtime = 7 };
	struct sym_job elsewhere = { .path = "/bin/q", .mtime = 7 };
	struct sym_job newer = { .path = "/bin/p", .mtime = 8 };
	struct strbuf bytes = make_file();
	CLEANUP(sym_kept_fini) struct sym_kept k = { 0 };
	CLEANUP(sym_table_putp) struct sym_table *t = NULL;

	cr_assert_eq(sym_kept_decode(&bytes, &k, NULL), 0);
	cr_expect_eq(sym_kept_table(&k, &other, &t, NULL), -EBADMSG);
	cr_expect_eq(sym_kept_table(&k, &elsewhere, &t, NULL), -EBADMSG);
	cr_expect_eq(sym_kept_table(&k, &newer, &t, NULL), -EBADMSG);
	cr_expect_eq(sym_kept_table(&k, &no_id, &t, NULL), 0);
}

Test(kept, a_name_tells_binaries_apart)
{
	const struct sym_job no_id = { .path = "/bin/p", .mtime = 7 };
	const struct sym_job newer = { .path = "/bin/p", .mtime = 8 };
	const struct sym_job no_time = { .path = "/bin/p" };
	const struct sym_job no_path = { .mtime = 7 };
	char a[SYM_KEPT_NAME], b[SYM_KEPT_NAME];

	cr_expect(sym_kept_name(&job, a));
	cr_expect_str_eq(a, "abcd");
	cr_expect(sym_kept_name(&no_id, a) && sym_kept_name(&newer, b));
	cr_expect_str_neq(a, b);
	cr_expect_null(strchr(a, '/'));
	cr_expect_not(sym_kept_name(&no_time, a));
	cr_expect_not(sym_kept_name(&no_path, a));
}

static int read_as(const char *dir, const struct cred *cred)
{
	struct sym_job asked = job;
	CLEANUP(sym_kept_fini) struct sym_kept k = { 0 };

	asked.cred = cred;
	return sym_kept_read(dir, &asked, &k, NULL);
}

Test(kept, a_file_is_read_by_whom_its_mode_allows_and_through_no_link)
{
	const struct cred stranger = { .uid = 4711, .gid = 4711 };
	CLEANUP(strbuf_fini) struct strbuf file = make_file();
	char dir[] = "/tmp/kept.XXXXXX", link[64];
	CLEANUP(close_fd) int fd = -1;

	cr_assert_not_null(mkdtemp(dir));
	cr_expect_eq(read_as(dir, NULL), -ENOENT);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_eq(file_replace(fd, "abcd", file.data, file.len, 0600, 0, NULL), 0);
	cr_expect_eq(read_as(dir, NULL), 0);
	cr_expect_eq(read_as(dir, &stranger), -EACCES);
	cr_assert_eq(fchmodat(fd, "abcd", 0644, 0), 0);
	cr_expect_eq(read_as(dir, &stranger), 0);
	cr_assert_eq(renameat(fd, "abcd", fd, "other") | symlinkat("other", fd, "abcd"),
		     0);
	cr_expect_eq(read_as(dir, NULL), -ELOOP);
	snprintf(link, sizeof(link), "%s.link", dir);
	cr_assert_eq(symlink(dir, link), 0);
	cr_expect_eq(read_as(link, NULL), -ENOTDIR);
	unlink(link);
	file_remove_tree(AT_FDCWD, dir, NULL);
}
