/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "tests/unit/base/scratch.h"

static char dir[] = "/tmp/opfs-file.XXXXXX";
static int at = -1;
static struct err e;

static void begin(void)
{
	at = scratch_new(dir);
}

static void end(void)
{
	scratch_remove(dir, at);
}

TestSuite(file, .init = begin, .fini = end);

static int nr_entries(void)
{
	CLEANUP(close_dir) DIR *d = opendir(dir);
	int n = 0;

	while (readdir(d))
		n++;
	return n - 2;
}

Test(file, replaces_content_and_leaves_nothing_else)
{
	CLEANUP(strbuf_fini) struct strbuf b = { 0 };

	cr_expect_eq(file_replace(at, "f", "one", 3, 0644, 0, &e), 0);
	cr_expect_eq(file_replace(at, "f", "two!", 4, 0644, 1, &e), 0);
	cr_expect_eq(file_slurp(at, "f", 100, &b, &e), 0);
	cr_expect_str_eq(strbuf_str(&b), "two!");
	cr_expect_eq(nr_entries(), 1);
}

/* Bytes that this process has read. */
static unsigned long long bytes_read(void)
{
	CLEANUP(strbuf_fini) struct strbuf b = { 0 };

	cr_assert_eq(file_slurp(AT_FDCWD, "/proc/self/io", 1 << 16, &b, &e), 0);
	return strtoull(strbuf_str(&b) + strlen("rchar: "), NULL, 10);
}

Test(file, what_was_read_is_a_string_also_if_it_is_empty)
{
	CLEANUP(strbuf_fini) struct strbuf b = { 0 };

	mallopt(M_PERTURB, 0x55); /* new memory has other bytes than zero */
	cr_assert_eq(file_replace(at, "f", "", 0, 0644, 0, &e), 0);
	cr_expect_eq(file_slurp(at, "f", 100, &b, &e), 0);
	cr_expect_str_empty(strbuf_str(&b));
	strbuf_puts(&b, "kept");
	cr_assert_eq(file_replace(at, "f", "12345", 5, 0644, 0, &e), 0);
	cr_expect_eq(file_slurp(at, "f", 4, &b, &e), -EFBIG);
	cr_expect_str_eq(strbuf_str(&b), "kept");
	cr_expect_eq(file_slurp(at, "f", 5, &b, &e), 0);
	cr_expect_str_eq(strbuf_str(&b), "kept12345");
}

Test(file, what_is_too_large_is_not_read)
{
	CLEANUP(strbuf_fini) struct strbuf b = { 0 };
	CLEANUP(close_fd) int fd = openat(at, "f", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	unsigned long long before = bytes_read();

	cr_assert_eq(ftruncate(fd, (off_t)1 << 40), 0);
	cr_expect_eq(file_slurp(at, "f", 64 << 20, &b, &e), -EFBIG);
	cr_expect_str_eq(e.msg, "f: holds more than 67108864 bytes");
	cr_expect(bytes_read() - before < 1 << 20);
}

Test(file, replace_keeps_the_old_content_when_it_cannot_write)
{
	CLEANUP(strbuf_fini) struct strbuf b = { 0 };
	const struct rlimit limit = { 4096, 4096 };
	static char big[10000];

	signal(SIGXFSZ, SIG_IGN);
	cr_assert_eq(file_replace(at, "f", "old", 3, 0644, 0, &e), 0);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	cr_expect_eq(file_replace(at, "f", big, sizeof(big), 0644, 0, &e), -EFBIG);
	cr_expect_str_eq(e.msg, "f: File too large");
	cr_expect_eq(file_slurp(at, "f", 100, &b, &e), 0);
	cr_expect_str_eq(strbuf_str(&b), "old");
	cr_expect_eq(nr_entries(), 1, "a temporary file stayed behind");
}

Test(file, replace_tells_that_a_disk_is_full)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		cr_skip_test("no /dev/full here");
	cr_expect_eq(file_write_all(fd, "x", 1), -ENOSPC);
	close(fd);
}

Test(file, replace_fails_where_there_is_no_directory)
{
	cr_expect_eq(file_replace(at, "none/f", "x", 1, 0644, 0, &e), -ENOENT);
	cr_expect(strstr(e.msg, "none/f"), "%s", e.msg);
	cr_expect_eq(file_replace(AT_FDCWD, "/proc/f", "x", 1, 0644, 0, &e), -ENOENT);
}

Test(file, replace_never_takes_the_place_of_a_directory)
{
	cr_assert_eq(mkdirat(at, "d", 0755), 0);
	cr_expect_lt(file_replace(at, "d", "x", 1, 0644, 0, &e), 0);
	cr_expect_eq(nr_entries(), 1);
}

Test(file, replace_of_a_link_leaves_its_target_alone)
{
	CLEANUP(strbuf_fini) struct strbuf b = { 0 };

	file_replace(at, "target", "safe", 4, 0644, 0, &e);
	cr_assert_eq(symlinkat("target", at, "link"), 0);
	cr_expect_eq(file_replace(at, "link", "x", 1, 0644, 0, &e), 0);
	cr_expect_eq(file_slurp(at, "target", 100, &b, &e), 0);
	cr_expect_str_eq(strbuf_str(&b), "safe");
}

Test(file, within_a_directory_no_link_is_followed)
{
	CLEANUP(strbuf_fini) struct strbuf b = { 0 };

	cr_assert_eq(mkdirat(at, "real", 0755), 0);
	file_replace(at, "real/f", "x", 1, 0644, 0, &e);
	cr_assert_eq(symlinkat("real", at, "dir"), 0);
	cr_assert_eq(symlinkat("f", at, "real/link"), 0);
	cr_expect_eq(file_slurp(at, "dir/f", 100, &b, &e), -ELOOP);
	cr_expect_eq(file_slurp(at, "real/link", 100, &b, &e), -ELOOP);
	cr_expect_lt(file_slurp(at, "/etc/passwd", 1 << 20, &b, &e), 0);
	cr_expect_lt(file_slurp(at, "../../etc/passwd", 1 << 20, &b, &e), 0);
	cr_expect_eq(b.len, 0);
	cr_expect_eq(file_slurp(at, "real/f", 100, &b, &e), 0);
}

Test(file, replace_refuses_a_directory_one_may_not_write)
{
	cr_assert_eq(mkdirat(at, "d", 0555), 0);
	cr_assert_eq(fchmod(at, 0755), 0);
	if (geteuid() == 0 && seteuid(65534))
		cr_skip_test("cannot become another user");
	cr_expect_eq(file_replace(at, "d/f", "x", 1, 0644, 0, &e), -EACCES);
	cr_expect_str_eq(e.msg, "d/f: Permission denied");
	cr_expect_eq(file_mkdirs(at, "d/sub/sub", 0755, &e), -EACCES);
	cr_expect_str_eq(e.msg, "d/sub: Permission denied");
	cr_assert(getuid() != 0 || seteuid(0) == 0);
}

Test(file, slurp_refuses_more_than_it_was_allowed_and_adds_nothing)
{
	CLEANUP(strbuf_fini) struct strbuf b = { 0 };
	CLEANUP(strbuf_fini) struct strbuf big = { 0 };

	strbuf_puts(&b, "before");
	strbuf_fill(&big, 'x', 100000);
	file_replace(at, "f", big.data, big.len, 0644, 0, &e);
	cr_expect_eq(file_slurp(at, "f", 99999, &b, &e), -EFBIG);
	cr_expect_str_eq(e.msg, "f: holds more than 99999 bytes");
	cr_expect_str_eq(strbuf_str(&b), "before");
	cr_expect_eq(file_slurp(at, "f", 100000, &b, &e), 0);
	cr_expect_eq(b.len, 100006);
}

Test(file, slurp_ends_on_endless_files_and_empty_pipes)
{
	CLEANUP(strbuf_fini) struct strbuf b = { 0 };

	cr_expect_eq(file_slurp(AT_FDCWD, "/dev/zero", 1 << 20, &b, &e), -EFBIG);
	cr_assert_eq(mkfifoat(at, "pipe", 0644), 0);
	cr_expect_eq(file_slurp(at, "pipe", 10, &b, &e), 0);
	cr_expect_eq(b.len, 0);
}

Test(file, slurp_reads_files_that_tell_no_size)
{
	CLEANUP(strbuf_fini) struct strbuf b = { 0 };

	cr_expect_eq(file_slurp(AT_FDCWD, "/proc/self/status", 1 << 20, &b, &e), 0);
	cr_expect(strstr(strbuf_str(&b), "Name:"));
}

Test(file, slurp_reads_files_of_sysfs_which_are_said_to_be_as_long_as_a_page)
{
	CLEANUP(strbuf_fini) struct strbuf b = { 0 };
	static const char path[] = "/sys/devices/system/cpu/online";
	struct stat st;

	if (stat(path, &st))
		cr_skip_test("no sysfs is mounted");
	cr_assert_eq(file_slurp(AT_FDCWD, path, (size_t)st.st_size - 1, &b, &e), 0, "%s",
		     e.msg);
	cr_expect_eq(b.data[0], '0');
	cr_expect_eq(b.data[b.len - 1], '\n');
}

Test(file, slurp_tells_why)
{
	CLEANUP(strbuf_fini) struct strbuf b = { 0 };

	cr_expect_eq(file_slurp(at, "none", 10, &b, &e), -ENOENT);
	cr_expect_str_eq(e.msg, "none: No such file or directory");
	cr_expect_eq(file_slurp(AT_FDCWD, dir, 10, &b, &e), -EISDIR);
}

Test(file, pread_is_short_only_at_the_end)
{
	CLEANUP(close_fd) int fd = -1;
	char buf[8] = { 0 };

	file_replace(at, "f", "0123456789", 10, 0644, 0, &e);
	fd = openat(at, "f", O_RDONLY | O_CLOEXEC);
	cr_expect_eq(file_pread_all(fd, buf, 8, 0), 8);
	cr_expect_eq(file_pread_all(fd, buf, 8, 7), 3);
	cr_expect_eq(memcmp(buf, "789", 3), 0);
	cr_expect_eq(file_pread_all(fd, buf, 8, 100), 0);
	cr_expect_eq(file_pread_all(-1, buf, 8, 0), -EBADF);
}

Test(file, mkdirs_makes_what_is_missing)
{
	struct stat st;

	cr_expect_eq(file_mkdirs(at, "a/b//c/", 0755, &e), 0, "%s", e.msg);
	cr_expect_eq(fstatat(at, "a/b/c", &st, 0), 0);
	cr_expect(S_ISDIR(st.st_mode));
	cr_expect_eq(file_mkdirs(at, "a/b/c/d", 0755, &e), 0);
	cr_expect_eq(file_mkdirs(AT_FDCWD, "/", 0755, &e), 0, "%s", e.msg);
	cr_expect_eq(file_mkdirs(at, ".", 0755, &e), 0, "%s", e.msg);
}

Test(file, mkdirs_refuses_files_in_its_way)
{
	file_replace(at, "f", "", 0, 0644, 0, &e);
	cr_expect_eq(file_mkdirs(at, "f", 0755, &e), -ENOTDIR);
	cr_expect_eq(file_mkdirs(at, "f/g", 0755, &e), -ENOTDIR);
	cr_expect_eq(file_mkdirs(at, "", 0755, &e), -ENOENT);
}

Test(file, remove_tree_follows_no_link)
{
	cr_assert_eq(file_mkdirs(at, "keep/sub", 0755, &e), 0);
	cr_assert_eq(file_mkdirs(at, "gone/sub", 0755, &e), 0);
	cr_assert_eq(symlinkat("../keep", at, "gone/link"), 0);
	cr_expect_eq(file_remove_tree(at, "gone", &e), 0, "%s", e.msg);
	cr_expect_eq(faccessat(at, "keep/sub", F_OK, 0), 0);
	cr_expect_eq(faccessat(at, "gone", F_OK, 0), -1);
}

Test(file, remove_tree_of_nothing_is_fine)
{
	cr_expect_eq(file_remove_tree(at, "none", &e), 0);
	cr_expect_eq(file_remove_tree(at, "none/at/all", &e), 0);
}

Test(file, remove_tree_empties_a_large_directory)
{
	char name[16];

	mkdirat(at, "d", 0755);
	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "d/%d", i);
		close(openat(at, name, O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
	}
	cr_expect_eq(file_remove_tree(at, "d", &e), 0, "%s", e.msg);
}
