/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "collector/who/kernel.h"

static struct coll_images images;
static char kallsyms[] = "/tmp/opfs-kallsyms.XXXXXX",
	    modules[] = "/tmp/opfs-modules.XXXXXX";
static struct coll_kernel_options opt = { .kallsyms = kallsyms, .modules = modules };
static struct coll_kernel k;
static uint64_t key;

static void setup(void)
{
	cr_assert_eq(coll_images_init(&images, -1, NULL), 0);
	close(mkstemp(kallsyms));
	close(mkstemp(modules));
}

static void teardown(void)
{
	coll_kernel_fini(&k);
	coll_images_fini(&images);
	unlink(kallsyms);
	unlink(modules);
}

TestSuite(kernel, .init = setup, .fini = teardown);

static void fill(const char *path, const char *text)
{
	cr_assert_eq(file_replace(AT_FDCWD, path, text, strlen(text), 0600, 0, NULL), 0);
}

static const char *name_at(uint64_t addr, uint64_t now)
{
	struct coll_image *img = coll_kernel_find(&k, addr, now, &key);

	return img ? img->name.name : "-";
}

Test(kernel, finds_the_kernel_and_its_modules)
{
	fill(kallsyms, "ffffffff81000000 T startup\nffffffff81000100 T _stext\n"
		       "ffffffff81000100 T _text\nffffffff82000000 T _etext\n");
	fill(modules, "ext4 8192 1 - Live 0xffffffffc0100000\n"
		      "jbd2 4096 2 ext4, Live 0xffffffffc0000000 (E)\n"
		      "bad line\n");
	cr_assert_eq(coll_kernel_init(&k, &images, &opt, NULL), 0);
	cr_expect_str_eq(name_at(0xffffffff81000150, 0), "/proc/kallsyms");
	cr_expect_eq(key, 0x50);
	cr_expect_str_eq(name_at(0xffffffffc0101fff, 0), "ext4");
	cr_expect_eq(key, 0x1fff);
	cr_expect_str_eq(name_at(0xffffffffc0000010, 0), "jbd2");
	cr_expect_str_eq(name_at(0xffffffffc0102000, 0), "-");
	cr_expect_str_eq(name_at(0xffffffff82000000, 0), "-");
	cr_expect_str_eq(k.note, "");
}

Test(kernel, reads_modules_again_for_an_address_it_does_not_know_but_rarely)
{
	uint64_t second = 1000000000;

	fill(kallsyms, "ffffffff81000100 T _stext\nffffffff82000000 T _etext\n");
	cr_assert_eq(coll_kernel_init(&k, &images, &opt, NULL), 0);
	cr_expect_str_eq(name_at(0xffffffffc0000010, 5 * second), "-");
	fill(modules, "late 4096 0 - Live 0xffffffffc0000000\n");
	cr_expect_str_eq(name_at(0xffffffffc0000010, 5 * second + 1), "-");
	cr_expect_str_eq(name_at(0xffffffffc0000010, 6 * second), "late");
}

Test(kernel, keeps_raw_addresses_where_they_are_hidden_and_says_so)
{
	fill(kallsyms, "0000000000000000 T _stext\n0000000000000000 T _etext\n");
	cr_assert_eq(coll_kernel_init(&k, &images, &opt, NULL), 0);
	cr_expect_str_eq(name_at(0xffffffff81000150, 0), "no-vmlinux");
	cr_expect_eq(key, 0xffffffff81000150);
	cr_expect(strstr(k.note, "kptr_restrict"));
}

Test(kernel, does_without_names_if_asked)
{
	struct coll_kernel_options none = { .no_vmlinux = true };

	cr_assert_eq(coll_kernel_init(&k, &images, &none, NULL), 0);
	cr_expect_str_eq(name_at(5, 0), "no-vmlinux");
	cr_expect_str_eq(k.note, "");
}

Test(kernel, takes_a_vmlinux_where_the_running_kernel_lies)
{
	opt.vmlinux = "/proc/self/exe"; /* any ELF file with a .text will do */
	fill(kallsyms, "ffffffff9a000000 T _stext\nffffffff9b000000 T _etext\n");
	cr_assert_eq(coll_kernel_init(&k, &images, &opt, NULL), 0);
	cr_expect_str_neq(name_at(0xffffffff9a000010, 0), "-");
	cr_expect_eq(key, 0x10);
}

Test(kernel, refuses_a_vmlinux_that_is_none)
{
	struct coll_kernel_options file = { .vmlinux = kallsyms, .kallsyms = kallsyms };
	struct err err = { 0 };

	fill(kallsyms, "not ELF");
	cr_expect_eq(coll_kernel_init(&k, &images, &file, &err), -EBADMSG);
	cr_expect(strstr(err.msg, "--vmlinux="), "%s", err.msg);
	coll_kernel_fini(&k);
	file.vmlinux = "/nonexistent";
	cr_expect_eq(coll_kernel_init(&k, &images, &file, &err), -ENOENT);
}
