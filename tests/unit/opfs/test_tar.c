/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/archive/tar.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/regular.h"

/* Archives in a directory of their own, read as a whole and in pieces, and GNU tar's. */
static char dir[] = "/tmp/opfs-tar.XXXXXX";

static void enter(void)
{
	cr_assert(mkdtemp(dir) && !chdir(dir));
}

static void leave(void)
{
	cr_expect(!chdir("/"));
	cr_expect_eq(file_remove_tree(AT_FDCWD, dir, NULL), 0);
}

TestSuite(tar, .init = enter, .fini = leave, .timeout = 1000);

static void put(const char *path, const char *text)
{
	cr_assert_eq(file_replace(AT_FDCWD, path, text, strlen(text), 0644, 0, NULL), 0);
}

static int open_here(void *ctx, const char *path, bool for_all, struct err *err)
{
	struct stat st;
	int fd = regular_open(path, &st);

	(void)ctx;
	(void)for_all;
	return fd < 0 ? err_errno(err, fd, "%s", path) : fd;
}

static struct tar *new_tar(void)
{
	struct tar *t;

	cr_assert_eq(tar_new(open_here, NULL, &t, NULL), 0);
	return t;
}

static void add_bytes(struct tar *t, const char *name, const char *text)
{
	const struct tar_info info = { .name = name, .mtime = 1700000000 };

	cr_assert_eq(tar_add_bytes(t, &info, text, strlen(text), NULL), 0);
}

static int add_file(struct tar *t, const char *name, const char *path,
		    const struct tar_want *want, struct err *err)
{
	const struct tar_info info = { .name = name };

	return tar_add_file(t, &info, AT_FDCWD, path, want, err);
}

/* All of it, in pieces of @step. */
static char *read_all(struct tar *t, size_t step)
{
	size_t size = tar_size(t);
	char *all = malloc(size);

	cr_assert(all);
	for (size_t at = 0; at < size; at += step) {
		size_t n = size - at < step ? size - at : step;

		cr_assert_eq(tar_read(t, all + at, n, (off_t)at, NULL), 0, "at %zu", at);
	}
	return all;
}

static void save(const char *path, const char *data, size_t len)
{
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0644);

	cr_assert(fd >= 0 && !file_write_all(fd, data, len));
	close(fd);
}

static bool run(const char *command)
{
	return system(command) == 0; // NOLINT(cert-env33-c)
}

/* Content of all kinds, sizes around a block, names of all kinds. */
static struct tar *sample(void)
{
	struct tar *t = new_tar();
	struct strbuf head = { 0 };
	struct tar_info info = { .name = "dir/", .mtime = 5 };
	char name[400];
	int fd;

	if (access("file", F_OK))
		put("file", "in a file");
	add_bytes(t, "empty", "");
	add_bytes(t, "new\nline", "one");
	add_bytes(t, "back\\slash", "two");
	add_bytes(t, "uml\xc3\xa4ut", "three");
	add_bytes(t, "not \xff utf-8", "four");
	memset(name, 'x', sizeof(name));
	memcpy(name, "long/", 5);
	name[200] = '/';
	name[sizeof(name) - 1] = '\0';
	add_bytes(t, name, "five");
	cr_assert_eq(tar_add_dir(t, &info, NULL), 0);
	cr_assert_eq(add_file(t, "f", "file", &(struct tar_want){ 0 }, NULL), 0);
	fd = open("file", O_RDONLY);
	strbuf_puts(&head, "HEAD");
	info.name = "range";
	cr_assert_eq(tar_add_range(t, &info, &head, fd, 3, 4, 600, NULL), 0);
	strbuf_fini(&head);
	cr_assert_eq(tar_seal(t, 7, NULL), 0);
	return t; /* fd stays open as long as the process */
}

Test(tar, any_range_is_the_same_as_the_whole)
{
	struct tar *t = sample(), *again = sample();
	size_t size = tar_size(t);
	char *all = read_all(t, size), *pieces = read_all(again, 7), part[700];

	cr_expect_arr_eq(all, pieces, size);
	for (size_t at = 0; at + sizeof(part) < size; at += 311) {
		cr_assert_eq(tar_read(t, part, sizeof(part), (off_t)at, NULL), 0);
		cr_assert_arr_eq(part, all + at, sizeof(part), "at %zu", at);
	}
	free(all);
	free(pieces);
	tar_free(t);
	tar_free(again);
}

/* What lies behind the MANIFEST is near enough to the beginning to sum all before it. */
Test(tar, who_reads_the_end_first_does_not_wait_for_himself)
{
	struct tar *t = sample();
	size_t size = tar_size(t);
	char part[512], none[sizeof(part)] = { 0 }, *all;

	cr_assert_eq(tar_read(t, part, sizeof(part), (off_t)(size - sizeof(part)), NULL),
		     0);
	cr_expect_arr_eq(part, none, sizeof(part));
	all = read_all(t, 4096);
	save("a.tar", all, size);
	cr_assert(run("mkdir out && tar -C out -xf a.tar 2>/dev/null"));
	cr_expect(run("cd out && sha256sum --strict --quiet -c MANIFEST"));
	free(all);
	tar_free(t);
}

Test(tar, gnu_tar_and_sha256sum_agree_with_it)
{
	struct tar *t = sample();
	char *all = read_all(t, 4096);

	save("a.tar", all, tar_size(t));
	cr_assert(run("mkdir out && tar -C out -xf a.tar 2>/dev/null"));
	cr_expect(run("cd out && sha256sum --strict --quiet -c MANIFEST"));
	cr_expect(run("test \"$(wc -l <out/MANIFEST)\" = 10"));
	cr_expect(run("test \"$(cat out/f)\" = 'in a file'"));
	cr_expect(run("test \"$(tr -d '\\0' <out/range)\" = 'HEADa fi'"));
	cr_expect(run("test \"$(stat -c %s out/range)\" = 608"));
	cr_expect(run("test \"$(stat -c %Y out/empty)\" = 1700000000"));
	cr_expect(run("test -d out/dir && test \"$(stat -c %Y out/dir)\" = 5"));
	free(all);
	tar_free(t);
}

Test(tar, the_manifest_can_be_read_first)
{
	struct tar *t = sample(), *again = sample();
	size_t size = tar_size(t), last = size - 2048;
	char *all = read_all(t, 100), part[2048];

	cr_assert_eq(tar_read(again, part, sizeof(part), (off_t)last, NULL), 0);
	cr_expect_arr_eq(part, all + last, sizeof(part));
	free(all);
	tar_free(t);
	tar_free(again);
}

Test(tar, who_gives_up_does_not_wait_for_sums)
{
	struct tar *t = sample();
	size_t last = tar_size(t) - 2048;
	atomic_bool cancel = true;
	char part[2048];

	cr_expect_eq(tar_read(t, part, sizeof(part), (off_t)last, &cancel), -EINTR);
	cancel = false;
	cr_expect_eq(tar_read(t, part, sizeof(part), (off_t)last, &cancel), 0);
	tar_free(t);
}

Test(tar, a_file_that_changed_is_not_delivered)
{
	struct tar *t = new_tar();
	char part[512];

	put("file", "before");
	cr_assert_eq(add_file(t, "f", "file", &(struct tar_want){ 0 }, NULL), 0);
	cr_assert_eq(tar_seal(t, 0, NULL), 0);
	cr_assert_eq(tar_read(t, part, sizeof(part), 512, NULL), 0);
	cr_expect(tar_fresh(t));
	put("file", "after!");
	cr_expect_not(tar_fresh(t));
	cr_expect_eq(tar_read(t, part, sizeof(part), 512, NULL), -EIO);
	cr_assert_eq(truncate("file", 2), 0);
	cr_expect_eq(tar_read(t, part, sizeof(part), 512, NULL), -EIO);
	cr_assert_eq(unlink("file"), 0);
	cr_expect_not(tar_fresh(t));
	cr_expect_eq(tar_read(t, part, sizeof(part), 512, NULL), -EIO);
	tar_free(t);
}

Test(tar, what_is_appended_to_counts_as_it_was)
{
	const struct tar_want want = { .grows = true };
	struct tar *t = new_tar();
	char part[512];
	int fd;

	put("file", "before");
	cr_assert_eq(add_file(t, "f", "file", &want, NULL), 0);
	cr_assert_eq(tar_seal(t, 0, NULL), 0);
	fd = open("file", O_WRONLY | O_APPEND);
	cr_assert_eq(file_write_all(fd, " and after", 10), 0);
	close(fd);
	cr_expect(tar_fresh(t));
	cr_assert_eq(tar_read(t, part, sizeof(part), 512, NULL), 0);
	cr_expect_str_eq(part, "before");
	tar_free(t);
}

Test(tar, it_takes_no_file_of_another_kind)
{
	const struct tar_want any = { 0 }, elf = { .elf = true }, text = { .text = true },
			      small = { .max_size = 3 }, other = { .dev = 1, .ino = 1 };
	struct tar *t = new_tar();
	struct err err = { 0 };

	put("text", "some text");
	put("elf", "\177ELF");
	put("secret", "for root only");
	cr_assert_eq(chmod("secret", 0600), 0);
	cr_assert_eq(mkfifo("pipe", 0644), 0);
	cr_expect_eq(add_file(t, "a", "pipe", &any, &err), -EINVAL);
	cr_expect_eq(add_file(t, "a", ".", &any, &err), -EINVAL);
	cr_expect_eq(add_file(t, "a", "gone", &any, &err), -ENOENT);
	cr_expect_eq(add_file(t, "a", "text", &elf, &err), -EINVAL);
	cr_expect_eq(add_file(t, "a", "elf", &text, &err), -EACCES);
	cr_expect_eq(add_file(t, "a", "text", &small, &err), -EFBIG);
	cr_expect_eq(add_file(t, "a", "text", &other, &err), -ESTALE);
	if (!geteuid())
		cr_expect_eq(add_file(t, "a", "secret", &text, &err), -EACCES);
	cr_expect_not(tar_has(t, "a"));
	cr_expect_eq(add_file(t, "a", "text", &text, &err), 0);
	cr_expect_eq(add_file(t, "b", "elf", &elf, &err), 0);
	cr_expect(tar_has(t, "a") && tar_has(t, "b"));
	tar_free(t);
}

Test(tar, one_without_members_is_an_archive_too)
{
	struct tar *t = new_tar();
	char *all;

	cr_assert_eq(tar_seal(t, 0, NULL), 0);
	all = read_all(t, 512);
	save("a.tar", all, tar_size(t));
	cr_expect(run("test \"$(tar -tf a.tar)\" = MANIFEST"));
	free(all);
	tar_free(t);
}
