/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "libsym/server/arrivals.h"

static struct sym_arrivals a;
static char dir[] = "/tmp/opfs-arrivals.XXXXXX";
static const struct build_id id = { .len = 2, .bytes = { 0xab, 0xcd } };

static void start(void)
{
	cr_assert_not_null(mkdtemp(dir));
	cr_assert_eq(setenv("DEBUGINFOD_CACHE_PATH", dir, 1), 0);
	cr_assert_eq(setenv("HOME", dir, 1), 0);
	sym_arrivals_init(&a);
}

static void stop(void)
{
	sym_arrivals_fini(&a);
	file_remove_tree(AT_FDCWD, dir, NULL);
}

TestSuite(arrivals, .init = start, .fini = stop, .timeout = 1000);

/* Of $dir/BELOW, which the kernel then has in memory, there or not. */
static void look_for(const char *below, char path[128])
{
	struct stat st;

	snprintf(path, 128, "%s/%s", dir, below);
	stat(path, &st);
}

static void comes(const char *below, const char *text)
{
	char path[128];

	look_for(below, path);
	*strrchr(path, '/') = '\0';
	cr_assert_eq(file_mkdirs(AT_FDCWD, path, 0755, NULL), 0);
	look_for(below, path);
	cr_assert_eq(file_replace(AT_FDCWD, path, text, strlen(text), 0644, 0, NULL), 0);
}

static void await(const struct build_id *which)
{
	char path[128];

	look_for("abcd/debuginfo", path);
	look_for("abcd/executable", path);
	look_for(".debug/.build-id/ab/cd/debug", path);
	look_for(".debug/.build-id/ab/cd/elf", path);
	sym_arrivals_await(&a, which);
}

/* What two looks count. */
static uint64_t counted(void)
{
	uint64_t before = atomic_load(&a.count);

	sym_arrivals_look(&a);
	sym_arrivals_look(&a);
	return atomic_load(&a.count) - before;
}

Test(arrivals, what_comes_is_counted_once)
{
	static const char *const all[] = { "abcd/debuginfo", "abcd/executable",
					   ".debug/.build-id/ab/cd/debug",
					   ".debug/.build-id/ab/cd/elf" };

	await(&id);
	cr_expect_eq(counted(), 0);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		comes(all[i], "ELF");
		cr_expect_eq(counted(), 1, "%s", all[i]);
	}
}

Test(arrivals, what_changes_or_goes_is_counted_once)
{
	char path[128];

	await(&id);
	comes("abcd/debuginfo", "");
	cr_expect_eq(counted(), 1);
	comes("abcd/debuginfo", "ELF");
	cr_expect_eq(counted(), 1);
	look_for("abcd/debuginfo", path);
	cr_assert_eq(chmod(path, 0600), 0);
	cr_expect_eq(counted(), 1);
	cr_assert_eq(unlink(path), 0);
	cr_expect_eq(counted(), 1);
}

Test(arrivals, a_file_of_no_use_makes_nobody_ask_again_and_again)
{
	comes("abcd/debuginfo", "no ELF");
	await(&id);
	counted(); /* once: it may have come just now */
	for (int i = 0; i < 3; i++) {
		await(&id);
		cr_expect_eq(counted(), 0);
	}
}

Test(arrivals, what_nobody_looked_for_is_not_counted)
{
	const struct build_id other = { .len = 2, .bytes = { 0xab, 0xce } }, none = { 0 };

	await(&other);
	await(&none);
	comes("abcd/debuginfo", "ELF");
	cr_expect_eq(counted(), 0);
}

Test(arrivals, who_awaits_too_much_takes_no_more_memory)
{
	struct build_id many = { .len = 4 };

	await(&id);
	for (int i = 0; i < SYM_ARRIVALS_MAX + 10; i++) {
		memcpy(many.bytes, &i, sizeof(i));
		sym_arrivals_await(&a, &many);
	}
	cr_expect_eq(a.awaited.len, SYM_ARRIVALS_MAX);
	await(&id); /* it was the oldest, and is awaited anew */
	comes("abcd/debuginfo", "ELF");
	cr_expect_eq(counted(), 1);
}
