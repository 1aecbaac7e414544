/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/packages.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

static char dir[] = "/tmp/opfs-packages-XXXXXX";

static void write_list(const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	cr_assert(f && fputs(text, f) >= 0 && !fclose(f));
}

static void init(void)
{
	cr_assert(mkdtemp(dir));
	write_list("coreutils.list", "/.\n/bin\n/bin/ls\n/usr/bin/env\n");
	write_list("libc6:amd64.list", "/lib/x86_64-linux-gnu/libc.so.6\n");
	write_list("libc6-dev:amd64.list", "/usr/lib/x86_64-linux-gnu/libc.a\n");
	write_list("linux-image-6.1.0-1-amd64.list", "/lib/modules/6.1.0/a.ko\n");
	write_list("new.list", "/usr/sbin/new\n/usr/share/ls\n/bin/lsof"); /* not ended */
	write_list("note.txt", "/usr/bin/note\n");
	write_list("coreutils.md5sums", "/usr/bin/sums\n");
}

static void fini(void)
{
	file_remove_tree(AT_FDCWD, dir, NULL);
}

TestSuite(packages, .init = init, .fini = fini);

Test(packages, owners_of_files_name_the_packages_of_debug_symbols)
{
	static const char *const rows[][2] = {
		{ "/bin/ls", "coreutils-dbgsym" },
		{ "/usr/bin/ls", "coreutils-dbgsym" }, /* /bin is a link */
		{ "/usr/bin/env", "coreutils-dbgsym" },
		{ "/bin/env", "coreutils-dbgsym" },
		{ "/sbin/new", "new-dbgsym" },
		{ "/bin/lsof", "new-dbgsym" },
		{ "/usr/lib/x86_64-linux-gnu/libc.so.6", "libc6-dbg" },
		{ "/usr/lib/x86_64-linux-gnu/libc.a", "libc6-dev-dbgsym" },
		{ "/lib/modules/6.1.0/a.ko", "linux-image-6.1.0-1-amd64-dbg" },
		{ "/usr/bin/note", "" },
		{ "/usr/bin/sums", "" },
		{ "/usr/bin/l", "" },
		{ "/share/ls", "" },
		{ "ls", "" },
		{ "", "" },
	};
	enum { NR = sizeof(rows) / sizeof(rows[0]) };
	struct package_owner all[NR + 1] = { 0 };

	for (size_t i = 0; i < NR; i++)
		all[i].path = rows[i][0];
	cr_assert(packages_find(dir, all, NR + 1));
	for (size_t i = 0; i < NR; i++)
		cr_expect_str_eq(all[i].debug, rows[i][1], "%s: %s", rows[i][0],
				 all[i].debug);
}

Test(packages, lists_that_cannot_be_read_are_passed_over)
{
	struct package_owner one = { .path = "/usr/bin/env" };
	char path[256];

	snprintf(path, sizeof(path), "%s/a.list", dir);
	cr_assert_eq(symlink("/etc/passwd", path), 0);
	snprintf(path, sizeof(path), "%s/b.list", dir);
	cr_assert_eq(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/c.list", dir);
	cr_assert_eq(mkfifo(path, 0644), 0);
	snprintf(path, sizeof(path), "%s/d.list", dir);
	cr_assert_eq(truncate(path, 0), -1);
	write_list("d.list", "/usr/bin/env\n");
	cr_assert_eq(truncate(path, (off_t)1 << 40), 0); /* too long */
	cr_assert(packages_find(dir, &one, 1));
	cr_expect_str_eq(one.debug, "coreutils-dbgsym");
	cr_expect_not(packages_find("/nowhere", &one, 1));
}

static void expect_advice(const char *path, const char *debug, bool rpm, const char *want)
{
	struct package_owner of = { .path = path };
	struct strbuf out = { 0 };

	snprintf(of.debug, sizeof(of.debug), "%s", debug);
	packages_advice(&of, rpm, &out);
	cr_expect_str_eq(strbuf_str(&out), want);
	strbuf_fini(&out);
}

Test(packages, advice_is_a_package_or_a_command_that_is_safe_to_copy)
{
	expect_advice("/bin/ls", "coreutils-dbgsym", false, "package coreutils-dbgsym");
	expect_advice("/bin/ls", "", true, "dnf debuginfo-install $(rpm -qf /bin/ls)");
	expect_advice("/bin/ls", "", false, "");
	expect_advice("/bin/$(reboot)", "", true, "");
	expect_advice("/bin/a b", "", true, "");
	expect_advice("-e", "", true, "");
}
