/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/lockfile.h"
#include "tests/unit/base/scratch.h"

static char dir[] = "/tmp/opfs-lockfile.XXXXXX";
static int at = -1;
static struct err e;

static void begin(void)
{
	at = scratch_new(dir);
}

static void end(void)
{
	scratch_remove(dir, at);
}

TestSuite(lockfile, .init = begin, .fini = end);

static int take(int *holder)
{
	return lockfile_take(at, "lock", false, holder, &e);
}

static mode_t mode(void)
{
	struct stat st;

	return fstatat(at, "lock", &st, 0) ? 0 : st.st_mode & 0777;
}

/* A file as collectors once made it, signed by @pid. */
static int of_before(pid_t pid)
{
	int fd = openat(at, "lock", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	cr_assert_geq(fd, 0);
	cr_assert_eq(fchmod(fd, 0644), 0);
	cr_assert_gt(dprintf(fd, "%d\n", pid), 0);
	return fd;
}

Test(lockfile, one_has_it_and_others_learn_who)
{
	CLEANUP(close_fd) int fd = take(NULL);
	int holder = 0;

	cr_assert_geq(fd, 0, "%s", e.msg);
	cr_expect_eq(mode(), 0600);
	cr_expect_eq(lockfile_sign(fd), 0);
	cr_expect_eq(take(&holder), -EWOULDBLOCK);
	cr_expect_eq(holder, getpid());
	close(take_fd(&fd));
	fd = take(NULL);
	cr_expect_geq(fd, 0, "%s", e.msg);
}

Test(lockfile, one_that_others_may_open_is_replaced_though_they_lock_it)
{
	CLEANUP(close_fd) int old = of_before(0), fd = -1;

	cr_assert_eq(flock(old, LOCK_EX | LOCK_NB), 0);
	fd = take(NULL);
	cr_expect_geq(fd, 0, "%s", e.msg);
	cr_expect_eq(mode(), 0600);
	cr_expect_eq(take(NULL), -EWOULDBLOCK);
	cr_expect_neq(faccessat(at, "lock.new", F_OK, 0), 0);
}

Test(lockfile, a_collector_of_before_keeps_its_lock)
{
	CLEANUP(close_fd) int old = of_before(getpid()), fd = -1;
	int holder = 0;

	cr_assert_eq(flock(old, LOCK_EX | LOCK_NB), 0);
	cr_expect_eq(take(&holder), -EWOULDBLOCK);
	cr_expect_eq(holder, getpid());
	cr_expect_eq(mode(), 0644);
	close(take_fd(&old));
	fd = take(NULL);
	cr_expect_geq(fd, 0, "%s", e.msg);
	cr_expect_eq(mode(), 0600, "others may have it open, and lock it later");
}

Test(lockfile, a_file_of_another_use_is_refused)
{
	CLEANUP(close_fd) int old = of_before(0);

	cr_assert_eq(linkat(at, "lock", at, "other", 0), 0);
	cr_expect_eq(take(NULL), -EINVAL);
	cr_assert_eq(unlinkat(at, "lock", 0), 0);
	cr_assert_eq(symlinkat("other", at, "lock"), 0);
	cr_expect_eq(take(NULL), -ELOOP);
}

Test(lockfile, of_many_at_once_that_replace_one_has_it)
{
	CLEANUP(close_fd) int old = of_before(0);
	enum { PROCESSES = 8 };
	pid_t pids[PROCESSES];
	int ready[2], nr = 0, status;

	cr_assert_eq(pipe(ready), 0);
	for (int i = 0; i < PROCESSES; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			int fd = take(NULL);

			if (write(ready[1], "x", 1) == 1 && fd >= 0)
				pause(); /* with the lock */
			_exit(fd != -EWOULDBLOCK);
		}
	}
	for (int i = 0; i < PROCESSES; i++) {
		char c;

		cr_assert_eq(read(ready[0], &c, 1), 1);
	}
	/* those that have none have ended, or are about to */
	for (int i = 1; i < PROCESSES; i++) {
		cr_assert_gt(wait(&status), 0);
		nr += WIFEXITED(status) && !WEXITSTATUS(status);
	}
	cr_expect_eq(nr, PROCESSES - 1);
	cr_expect_eq(take(NULL), -EWOULDBLOCK);
	for (int i = 0; i < PROCESSES; i++)
		kill(pids[i], SIGKILL);
	wait(&status);
}
