/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/file/walk.h"

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
#include "libsym/file/open.h"

static char top[64];

static void make_top(void)
{
	strcpy(top, "/tmp/opfs-walk.XXXXXX");
	cr_assert_not_null(mkdtemp(top));
	cr_assert_eq(chdir(top), 0);
	mkdir("usr", 0755);
	mkdir("usr/bin", 0755);
	close(open("usr/bin/b", O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
	cr_assert_eq(symlink("usr/bin", "bin"), 0);
	cr_assert_eq(symlink("../../bin/b", "usr/bin/a"), 0);
	cr_assert_eq(symlink("loop", "loop"), 0);
	cr_assert_eq(symlink("/usr/bin", "absolute"), 0);
	cr_assert_eq(symlink("../../../../../usr", "up"), 0);
	cr_assert_eq(symlink("/proc/self", "kernel"), 0);
	mkdir("closed", 0700);
	cr_assert_eq(symlink("/usr", "closed/link"), 0);
}

static void remove_top(void)
{
	cr_assert_eq(chdir("/"), 0);
	file_remove_tree(AT_FDCWD, top, NULL);
}

TestSuite(walk, .init = make_top, .fini = remove_top);

/* @root NULL: the path is below @top.  @want is a path below @top, or "=" and a path. */
static void expect(const char *root, const char *path, int want_rc, const char *want)
{
	CLEANUP(sym_walk_fini) struct sym_walk w = SYM_WALK_INIT(.top = root);
	char from[200], to[200];

	snprintf(from, sizeof(from), "%s/%s", root ? "" : top, path);
	snprintf(to, sizeof(to), "%s/%s", *want == '=' ? "" : top, want + (*want == '='));
	cr_expect_eq(sym_walk(&w, from), want_rc, "%s", path);
	cr_expect_str_eq(strbuf_str(&w.real), to);
}

Test(walk, follows_links_as_far_as_there_is_something)
{
	expect(NULL, "bin", 0, "usr/bin");
	expect(NULL, "bin//./a/", 0, "usr/bin/b");
	expect(NULL, "bin/../bin", 0, "usr/bin");
	expect(NULL, "bin/nosuch/at/all", -ENOENT, "usr/bin/nosuch/at/all");
	expect(NULL, "bin/a/x", -ENOTDIR, "usr/bin/b/x");
	expect(NULL, "loop/x", -ELOOP, "loop/x");
}

Test(walk, does_not_leave_a_root_it_was_given)
{
	expect(top, "absolute/a", 0, "=usr/bin/b");
	expect(top, "up/bin/../../../usr/bin", 0, "=usr/bin");
	expect(top, "kernel", -ENOENT, "=proc/self");
	expect("/nonexistent", "x", -ESRCH, "=x");
}

Test(walk, never_enters_what_the_kernel_makes_for_who_looks)
{
	expect(NULL, "kernel/maps", -EXDEV, "=proc/self/maps");
	expect("/", "sys/kernel/notes", -EXDEV, "=sys/kernel/notes");
	expect("/proc/self/root", "sys", -EXDEV, "=sys");
	expect("/proc/self", "maps", -EXDEV, "=maps");
}

Test(walk, where_a_user_has_no_right_it_stops_as_if_nothing_were_there)
{
	struct cred other = { .uid = geteuid() + 1, .gid = getegid() + 1 };
	CLEANUP(sym_walk_fini) struct sym_walk w = SYM_WALK_INIT(.cred = &other);
	char path[200];

	chmod(top, 0755);
	snprintf(path, sizeof(path), "%s/closed/link/bin", top);
	cr_expect_eq(sym_walk(&w, path), -EACCES);
	cr_expect_str_eq(strbuf_str(&w.real), path);
	cr_expect_eq(w.links, 0);
}

Test(walk, opens_nothing_that_is_no_file_of_a_disk)
{
	struct err err = { 0 };
	char path[200];

	cr_expect_eq(sym_open("/proc/self/maps", NULL, &err), -EXDEV);
	cr_expect(strstr(err.msg, "/proc/self/maps: is not read"), "%s", err.msg);
	cr_expect_eq(sym_open("/dev/null", NULL, &err), -EINVAL);
	snprintf(path, sizeof(path), "%s/usr/bin/a", top);
	cr_expect(sym_is_regular(path, NULL));
	cr_expect_not(sym_is_regular("/proc/self/maps", NULL));
}
