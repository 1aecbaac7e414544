/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "libsym/file/open.h"
#include "libsym/file/seen.h"

static char dir[] = "/tmp/opfs-seen.XXXXXX";
static struct strbuf list;
static char here[64], absent[64];

static void put(const char *path, const char *text)
{
	cr_assert_eq(file_replace(AT_FDCWD, path, text, strlen(text), 0644, 0, NULL), 0);
}

/* A job that opens one file and does not find another one. */
static void look(void)
{
	CLEANUP(close_fd) int fd = sym_open(here, NULL, NULL);

	cr_assert_geq(fd, 0);
	cr_assert_eq(sym_open(absent, NULL, NULL), -ENOENT);
}

static void start(void)
{
	cr_assert_not_null(mkdtemp(dir));
	snprintf(here, sizeof(here), "%s/here", dir);
	snprintf(absent, sizeof(absent), "%s/below/absent", dir);
	put(here, "one");
	sym_seen_begin(&list);
	look();
}

static void stop(void)
{
	sym_seen_begin(NULL);
	strbuf_fini(&list);
	file_remove_tree(AT_FDCWD, dir, NULL);
}

TestSuite(seen, .init = start, .fini = stop, .timeout = 1000);

/* Of the files as they are now, which the kernel then has in memory. */
static bool holds(void)
{
	struct stat st;

	stat(here, &st);
	stat(absent, &st);
	return sym_seen_holds(list.data, list.len);
}

Test(seen, what_nobody_touched_holds)
{
	cr_assert_eq(strbuf_error(&list), 0);
	cr_expect(holds());
	cr_expect(holds());
}

Test(seen, another_file_of_the_same_size_and_time_is_another_one)
{
	struct timespec times[2];
	struct stat st;

	cr_assert_eq(stat(here, &st), 0);
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	put(here, "two");
	cr_assert_eq(utimensat(AT_FDCWD, here, times, 0), 0);
	cr_expect_not(holds());
}

Test(seen, a_file_that_was_removed_or_written_to_is_noticed)
{
	CLEANUP(close_fd) int fd = open(here, O_WRONLY | O_CLOEXEC);

	cr_assert_eq(write(fd, "tw", 2), 2);
	cr_expect_not(holds());
	cr_assert_eq(unlink(here), 0);
	cr_expect_not(holds());
}

Test(seen, a_file_that_has_come_is_noticed)
{
	char below[80];

	snprintf(below, sizeof(below), "%s/below", dir);
	cr_assert_eq(mkdir(below, 0755), 0);
	cr_expect(holds(), "a directory is not what was looked for");
	put(absent, "there");
	cr_expect_not(holds());
}

Test(seen, the_running_kernel_stays_the_same)
{
	sym_seen_boot();
	cr_assert_eq(strbuf_error(&list), 0);
	cr_expect(holds());
	/* of another boot: a bit of its number, ahead of the path */
	list.data[list.len - 40 - 56] ^= 1;
	cr_expect_not(holds());
}

Test(seen, what_cannot_be_told_is_no_list)
{
	CLEANUP(close_fd) int fd = -1;

	fd = sym_open("/dev/null", NULL, NULL); /* no regular file */
	cr_expect_lt(fd, 0);
	cr_expect_neq(strbuf_error(&list), 0);
}

Test(seen, a_list_that_gets_too_long_is_none)
{
	while (list.len <= SYM_SEEN_MAX)
		look();
	cr_expect_neq(strbuf_error(&list), 0);
}

Test(seen, bytes_that_are_no_list_do_not_hold)
{
	for (size_t len = 1; len < list.len; len++) {
		/* on the heap, for who looks behind it to be found out */
		CLEANUP(free_ptr) char *cut = malloc(len);

		memcpy(cut, list.data, len);
		if (sym_seen_holds(cut, len))
			/* the end of an entry, but for what pads it */
			cr_expect(strlen(cut + 64) < len - 64, "%zu", len);
	}
	list.data[64] = 'x'; /* a relative path */
	cr_expect_not(holds());
}

Test(seen, nothing_is_noted_when_nobody_wants_it)
{
	size_t len = list.len;

	sym_seen_begin(NULL);
	look();
	sym_seen_boot();
	sym_seen_doubt();
	cr_expect_eq(list.len, len);
	cr_expect_eq(strbuf_error(&list), 0);
}

Test(seen, a_list_of_somebody_else_holds_until_its_file_changes)
{
	CLEANUP(strbuf_fini) struct strbuf other = { 0 };
	size_t len = list.len;

	sym_seen_add(&other, here);
	cr_expect_eq(strbuf_error(&other), 0);
	cr_expect_eq(list.len, len, "that of the job is as it was");
	cr_expect(sym_seen_holds(other.data, other.len));
	put(here, "two");
	cr_expect_not(sym_seen_holds(other.data, other.len));
}
