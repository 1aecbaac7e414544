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
#include "base/file.h"
#include "base/regular.h"

static char top[] = "/tmp/opfs-regular.XXXXXX";

static void make(const char *name, const char *text)
{
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	struct err e;

	strbuf_printf(&path, "%s/%s", top, name);
	cr_assert_eq(file_replace(AT_FDCWD, path.data, text, strlen(text), 0644, 0, &e),
		     0);
}

static void make_link(const char *name, const char *target)
{
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };

	strbuf_printf(&path, "%s/%s", top, name);
	cr_assert_eq(symlink(target, path.data), 0);
}

/* What is found at a path below the directory "root"; -errno. */
static int inside(const char *path, char text[static 16])
{
	CLEANUP(strbuf_fini) struct strbuf root = { 0 };
	CLEANUP(close_fd) int fd = -1;
	struct stat st;
	ssize_t n;

	strbuf_printf(&root, "%s/root", top);
	fd = regular_open_at(root.data, path, &st);
	if (fd < 0)
		return fd;
	n = read(fd, text, 15);
	text[n < 0 ? 0 : n] = '\0';
	return 0;
}

/* What a container is made of is the word of whoever is in it. */
Test(regular, nothing_leads_out_of_a_root_directory)
{
	char text[16] = "", dir[64], outside[64];
	struct err e;

	cr_assert_not_null(mkdtemp(top));
	snprintf(dir, sizeof(dir), "%s/root", top);
	cr_assert_eq(mkdir(dir, 0755), 0);
	make("file", "outside");
	make("root/file", "inside");
	snprintf(outside, sizeof(outside), "%s/file", top);
	make_link("root/absolute", "/file");
	make_link("root/out", outside);
	make_link("root/up", "../../../../file");
	make_link("root/magic", "/proc/self/root/etc/passwd");
	snprintf(dir, sizeof(dir), "%s/root/pipe", top);
	cr_assert_eq(mkfifo(dir, 0644), 0);

	cr_expect_eq(inside("/file", text), 0);
	cr_expect_str_eq(text, "inside");
	cr_expect_eq(inside("/absolute", text), 0);
	cr_expect_str_eq(text, "inside");
	cr_expect_eq(inside("/up", text), 0);
	cr_expect_str_eq(text, "inside");
	cr_expect_eq(inside("/../file", text), 0);
	cr_expect_str_eq(text, "inside");
	cr_expect_eq(inside("/out", text), -ENOENT);
	cr_expect_eq(inside("/magic", text), -ENOENT);
	cr_expect_eq(inside("/pipe", text), -EINVAL);
	cr_expect_eq(inside("/", text), -EINVAL);
	cr_expect_eq(file_remove_tree(AT_FDCWD, top, &e), 0);
}

Test(regular, a_place_may_be_the_file_itself_or_gone)
{
	char self[32];
	CLEANUP(close_fd) int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	CLEANUP(close_fd) int again = -1;
	struct stat st, want;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	again = regular_open_at(self, "/whatever", &st);
	cr_expect_geq(again, 0);
	cr_expect_eq(fstat(fd, &want), 0);
	cr_expect_eq(st.st_ino, want.st_ino);
	cr_expect_eq(regular_open_at("/proc/0/root", "/bin/sh", &st), -ESRCH);
}
