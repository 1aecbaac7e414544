/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "opfs/tree/resolve.h"

static char top[64];

static void setup(void)
{
	snprintf(top, sizeof(top), "/tmp/opfs-resolve.XXXXXX");
	cr_assert(mkdtemp(top));
	cr_assert_eq(chdir(top), 0);
	mkdir("usr", 0755);
	mkdir("usr/bin", 0755);
	cr_assert_eq(symlink("usr/bin", "bin"), 0);
	cr_assert_eq(symlink("../../bin/b", "usr/bin/a"), 0);
	cr_assert_eq(symlink("loop", "loop"), 0);
	mkdir("mnt", 0755);
	cr_assert_eq(symlink("../usr", "mnt/inside"), 0);
}

static void teardown(void)
{
	cr_assert_eq(chdir("/"), 0);
	file_remove_tree(AT_FDCWD, top, NULL);
}

TestSuite(resolve, .init = setup, .fini = teardown);

/* @want NULL: there are no links in it. */
static void expect(struct resolver *r, const char *path, const char *want)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };
	char from[200], to[200];
	int rc;

	snprintf(from, sizeof(from), "%s/%s", top, path);
	snprintf(to, sizeof(to), "%s/%s", top, want ? want : "");
	rc = resolver_path(r, from, false, &out);
	cr_expect_eq(rc, want ? 0 : -ENOENT, "%s: %d", path, rc);
	if (want)
		cr_expect_str_eq(strbuf_str(&out), to);
}

Test(resolve, follows_links_of_the_part_that_exists)
{
	struct resolver *r = resolver_new(NULL);

	expect(r, "bin", "usr/bin");
	expect(r, "bin/nosuch/at/all", "usr/bin/nosuch/at/all");
	expect(r, "bin/a", "usr/bin/b");
	expect(r, "usr/bin", NULL);
	expect(r, "nosuch", NULL);
	resolver_free(r);
}

Test(resolve, ends_in_a_loop)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };
	struct resolver *r = resolver_new(NULL);
	char path[200];

	snprintf(path, sizeof(path), "%s/loop/x", top);
	cr_expect_neq(resolver_path(r, path, false, &out), -EAGAIN);
	resolver_free(r);
}

Test(resolve, never_enters_the_mount_point)
{
	char mountpoint[200];
	struct resolver *r;

	snprintf(mountpoint, sizeof(mountpoint), "%s/mnt", top);
	r = resolver_new(mountpoint);
	expect(r, "mnt/inside", NULL);
	resolver_free(r);
	r = resolver_new(NULL);
	expect(r, "mnt/inside", "usr");
	resolver_free(r);
}

Test(resolve, remembers)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };
	struct resolver *r = resolver_new(NULL);
	char path[200];

	snprintf(path, sizeof(path), "%s/bin", top);
	cr_expect_eq(resolver_path(r, path, true, &out), -EAGAIN);
	cr_expect_eq(resolver_path(r, path, false, &out), 0);
	cr_expect_eq(resolver_path(r, path, true, &out), 0);
	resolver_free(r);
}
