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
static struct sym_server *server;
static struct resolver *r;

static void setup(void)
{
	snprintf(top, sizeof(top), "/tmp/opfs-resolve.XXXXXX");
	cr_assert(mkdtemp(top));
	cr_assert_eq(chdir(top), 0);
	chmod(top, 0755);
	mkdir("usr", 0755);
	mkdir("usr/bin", 0755);
	cr_assert_eq(symlink("usr/bin", "bin"), 0);
	mkdir("closed", 0700);
	cr_assert_eq(symlink("../usr", "closed/link"), 0);
	server = sym_server_new(NULL);
	r = resolver_new(server);
	cr_assert(server && r);
}

static void teardown(void)
{
	resolver_free(r);
	sym_server_free(server);
	cr_assert_eq(chdir("/"), 0);
	file_remove_tree(AT_FDCWD, top, NULL);
}

TestSuite(resolve, .init = setup, .fini = teardown);

/* @want NULL: there are no links in it. */
static void expect(const char *path, const struct viewer *v, const char *want)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };
	char from[200], to[200];
	int rc;

	snprintf(from, sizeof(from), "%s/%s", top, path);
	snprintf(to, sizeof(to), "%s/%s", top, want ? want : "");
	rc = resolver_path(r, from, v, &out, NULL);
	cr_expect_eq(rc, want ? 0 : -ENOENT, "%s: %d", path, rc);
	if (want)
		cr_expect_str_eq(strbuf_str(&out), to);
}

Test(resolve, follows_links_of_the_part_that_exists)
{
	expect("bin", NULL, "usr/bin");
	expect("bin/nosuch/at/all", NULL, "usr/bin/nosuch/at/all");
	expect("usr/bin", NULL, NULL);
	expect("nosuch", NULL, NULL);
}

Test(resolve, what_one_user_was_told_is_not_for_another)
{
	struct viewer own = { .cred = { geteuid(), getegid(), NULL, 0 } };
	struct viewer other = { .cred = { geteuid() + 65534, 65534, NULL, 0 } };

	expect("closed/link", &own, "usr");
	expect("closed/link", &other, NULL);
	expect("closed/nosuch", &other, NULL);
	expect("closed/link", &own, "usr");
	expect("bin", &other, "usr/bin");
}

Test(resolve, remembers)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };
	struct viewer quick = { .cred = { geteuid(), getegid(), NULL, 0 },
				.quick = true };
	struct viewer patient = { .cred = quick.cred };
	char path[200];

	snprintf(path, sizeof(path), "%s/bin", top);
	cr_expect_eq(resolver_path(r, path, &quick, &out, NULL), -EAGAIN);
	cr_expect_eq(resolver_path(r, path, &patient, &out, NULL), 0);
	cr_expect_eq(resolver_path(r, path, &quick, &out, NULL), 0);
}
