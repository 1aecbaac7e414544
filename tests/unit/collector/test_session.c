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
#include "collector/store/session.h"

static char dir[] = "/tmp/opfs-session.XXXXXX";
static struct coll_session s;

static void setup(void)
{
	struct err err = { 0 };

	cr_assert(mkdtemp(dir));
	cr_assert_eq(coll_session_open(&s, dir, NULL, false, false, &err), 0, "%s",
		     err.msg);
}

static void teardown(void)
{
	coll_session_fini(&s);
	file_remove_tree(AT_FDCWD, dir, NULL);
}

TestSuite(coll_session, .init = setup, .fini = teardown);

static bool there(const char *name)
{
	return !faccessat(s.samples_fd, name, F_OK, AT_SYMLINK_NOFOLLOW);
}

/* As a session with samples looks. */
static void put_samples(int fd)
{
	cr_assert_eq(mkdirat(fd, "{root}", 0755), 0);
}

static int rotate(const char *name, uint64_t taken, struct coll_session_old *old,
		  struct err *err)
{
	struct spec_stats now = { .value = { [SPEC_STAT_TAKEN] = taken } };
	int next = -1;

	cr_assert_eq(coll_session_prepare(&s, &next, err), 0, "%s", err->msg);
	return coll_session_rotate(&s, next, &now, name, old, err);
}

Test(coll_session, rotation_closes_the_old_one_with_its_last_figures)
{
	CLEANUP(coll_session_old_fini) struct coll_session_old old = { .fd = -1 };
	struct spec_live before, after;
	struct spec_stats stats;
	struct err err = { 0 };

	put_samples(s.fd);
	cr_assert_eq(rotate("saved", 7, &old, &err), 0, "%s", err.msg);
	cr_expect_str_eq(strbuf_str(&old.name), "saved");
	cr_expect(there("saved/{root}"));
	cr_expect_not(there("current/{root}"));
	cr_expect_not(there(".next"));
	cr_assert_eq(spec_live_read(old.fd, &before, &err), 0);
	cr_assert_eq(spec_live_read(s.fd, &after, &err), 0);
	cr_expect(before.closed);
	cr_expect_not(after.closed);
	cr_expect_gt(after.generation, before.generation);
	cr_assert_eq(spec_stats_read(old.fd, &stats, &err), 0);
	cr_expect_eq(stats.value[SPEC_STAT_TAKEN], 7);
}

/* An open file of the session's figures. */
static int file_of(enum spec_stat stat)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "stats/%s", spec_stat_info[stat].name);
	fd = openat(s.fd, path, O_RDONLY | O_CLOEXEC);
	cr_assert_geq(fd, 0, "%s", path);
	return fd;
}

static bool is_replaced(int fd)
{
	struct stat st;

	cr_assert_eq(fstat(fd, &st), 0);
	return !st.st_nlink;
}

/* It tells once a second, and most figures stay as they are. */
Test(coll_session, figures_that_are_as_before_are_not_written_again)
{
	CLEANUP(coll_session_old_fini) struct coll_session_old old = { .fd = -1 };
	struct spec_stats now = { .value = { [SPEC_STAT_TAKEN] = 1,
					     [SPEC_STAT_IGNORED_SELF] = 5 } },
			  read;
	struct err err = { 0 };
	int same;

	cr_assert_eq(coll_session_tell(&s, &now, false, &err), 0, "%s", err.msg);
	same = file_of(SPEC_STAT_IGNORED_SELF);
	for (int i = 0; i < 9; i++) {
		now.value[SPEC_STAT_TAKEN]++;
		cr_assert_eq(coll_session_tell(&s, &now, false, &err), 0, "%s", err.msg);
	}
	cr_expect_not(is_replaced(same));
	now.value[SPEC_STAT_IGNORED_SELF] = 0;
	cr_assert_eq(coll_session_tell(&s, &now, false, &err), 0, "%s", err.msg);
	cr_assert_eq(spec_stats_read(s.fd, &read, &err), 0, "%s", err.msg);
	cr_expect_eq(memcmp(&read, &now, sizeof(now)), 0);
	cr_expect(is_replaced(same));
	close(same);
	/* another session has none of them yet */
	cr_assert_eq(rotate("saved", 10, &old, &err), 0, "%s", err.msg);
	now.value[SPEC_STAT_IGNORED_SELF] = 5;
	cr_assert_eq(coll_session_tell(&s, &now, false, &err), 0, "%s", err.msg);
	cr_assert_eq(spec_stats_read(s.fd, &read, &err), 0, "%s", err.msg);
	cr_expect_eq(memcmp(&read, &now, sizeof(now)), 0);
}

Test(coll_session, rotation_to_a_name_that_is_there_does_nothing)
{
	CLEANUP(coll_session_old_fini) struct coll_session_old old = { .fd = -1 };
	struct err err = { 0 };

	put_samples(s.fd);
	cr_assert_eq(mkdirat(s.samples_fd, "there", 0755), 0);
	cr_expect_eq(rotate("there", 1, &old, &err), -EEXIST);
	cr_expect(there("current/{root}"));
	cr_expect_eq(old.fd, -1);
}

Test(coll_session, rotations_within_a_second_have_different_names)
{
	struct err err = { 0 };

	for (int i = 0; i < 4; i++) {
		CLEANUP(coll_session_old_fini) struct coll_session_old old = { .fd = -1 };

		put_samples(s.fd);
		cr_assert_eq(rotate(NULL, 1, &old, &err), 0, "%s", err.msg);
		cr_expect(coll_session_name_is_time(strbuf_str(&old.name)), "%s",
			  strbuf_str(&old.name));
		cr_expect(there(strbuf_str(&old.name)));
	}
}

/* Killed between the exchange and the name. */
Test(coll_session, samples_that_have_no_name_yet_get_one)
{
	CLEANUP(coll_session_old_fini) struct coll_session_old old = { .fd = -1 };
	struct err err = { 0 };
	char command[128];

	cr_assert_eq(mkdirat(s.samples_fd, ".next", 0755), 0);
	cr_assert_eq(mkdirat(s.samples_fd, ".next/{root}", 0755), 0);
	cr_assert_eq(mkdirat(s.samples_fd, ".last", 0755), 0);
	cr_assert_eq(rotate("saved", 0, &old, &err), 0, "%s", err.msg);
	cr_expect_not(there(".next"));
	cr_expect_not(there(".last"));
	snprintf(command, sizeof(command), "ls -d %s/samples/2*Z*/{root} >/dev/null",
		 dir);
	cr_expect_eq(system(command), 0);
}

Test(coll_session, names_that_could_not_be_shown_are_refused)
{
	static const char *const wrong[] = { "",       ".",       ".x",   "a/b",
					     "..",     "current", "a\nb", "README",
					     "status", "events" };
	struct err err = { 0 };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		cr_expect_eq(coll_session_name_check(wrong[i], &err), -EINVAL, "%s",
			     wrong[i]);
	cr_expect_eq(coll_session_name_check("before the change", &err), 0);
	cr_expect_eq(coll_session_name_check("README.old", &err), 0);
	cr_expect_not(coll_session_name_is_time("before"));
	cr_expect(coll_session_name_is_time("2026-11-21T09-00-00Z-2"));
}
