/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/lockfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"

enum { MODE = 0600, TRIES = 30 /* of 10 ms */, RENEWALS = 100 };

/* One that was just killed may still be ending, or its other process be beginning. */
static int take(int fd, bool wait)
{
	for (int i = 0; i < TRIES || wait; i++) {
		if (!flock(fd, LOCK_EX | (wait ? 0 : LOCK_NB)))
			return 0;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		if (!wait)
			nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	}
	return -EWOULDBLOCK;
}

static int signer(int fd)
{
	char text[16] = "";

	return pread(fd, text, sizeof(text) - 1, 0) > 0 ? atoi(text) : 0;
}

/* A collector of before, when others could open the file, and not who merely holds it. */
static bool lives(int pid)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	return pid > 0 && !stat(path, &st) && st.st_uid == geteuid();
}

static bool is_private(const struct stat *st)
{
	return !(st->st_mode & 077);
}

/* The descriptor of the file that is there, or -errno.  It may be cut off: never a file
 * that has another name, and another use. */
static int open_own(int dir_fd, const char *name, struct stat *st, struct err *err)
{
	CLEANUP(close_fd) int fd = -1;

	fd = openat(dir_fd, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
		    MODE);
	if (fd < 0 || fstat(fd, st))
		return err_errno(err, -errno, "%s", name);
	if (!S_ISREG(st->st_mode) || st->st_nlink > 1)
		return err_set(err, -EINVAL, "%s is not a file of its own; remove it",
			       name);
	return take_fd(&fd);
}

/* Still the file of that name? */
static bool in_place(int dir_fd, const char *name, const struct stat *st)
{
	struct stat now;

	return !fstatat(dir_fd, name, &now, AT_SYMLINK_NOFOLLOW) &&
	       now.st_ino == st->st_ino && now.st_dev == st->st_dev;
}

/*
 * Puts a file that is locked in the place of @old, which others may open.  Only one at a
 * time does that: who has the lock of NAME.new, while @old is still there.
 * Returns 0, with the descriptor, if @old is not there any more, or -errno.
 */
static int renew(int dir_fd, const char *name, const struct stat *old, int *out,
		 struct err *err)
{
	CLEANUP(close_fd) int fd = -1;
	char aside[PATH_MAX];
	struct stat st;
	int rc;

	snprintf(aside, sizeof(aside), "%s.new", name);
	fd = open_own(dir_fd, aside, &st, err);
	if (fd < 0)
		return fd;
	rc = take(fd, false);
	if (rc)
		return rc;
	if (!in_place(dir_fd, aside, &st))
		return 0;
	if (!in_place(dir_fd, name, old) || !is_private(&st)) {
		unlinkat(dir_fd, aside, 0);
		return 0;
	}
	if (renameat(dir_fd, aside, dir_fd, name))
		return err_errno(err, -errno, "%s", name);
	*out = take_fd(&fd);
	return 0;
}

/* 0 with *out >= 0, or *out -1 to try again. */
static int try(int dir_fd, const char *name, bool wait, int *holder, int *out,
	       struct err *err)
{
	CLEANUP(close_fd) int fd = -1;
	struct stat st;
	int pid, rc;

	fd = open_own(dir_fd, name, &st, err);
	if (fd < 0)
		return fd;
	pid = signer(fd);
	if (!is_private(&st) && !lives(pid))
		return renew(dir_fd, name, &st, out, err);
	rc = take(fd, wait && is_private(&st));
	if (rc == -EWOULDBLOCK && holder)
		*holder = signer(fd);
	if (rc)
		return rc == -EWOULDBLOCK ? rc : err_errno(err, rc, "%s", name);
	if (!is_private(&st))
		return renew(dir_fd, name, &st, out, err);
	if (in_place(dir_fd, name, &st))
		*out = take_fd(&fd);
	return 0;
}

int lockfile_take(int dir_fd, const char *name, bool wait, int *holder, struct err *err)
{
	int fd = -1, rc = 0;

	for (int i = 0; i < RENEWALS && fd < 0 && !rc; i++)
		rc = try(dir_fd, name, wait, holder, &fd, err);
	if (fd < 0 && !rc)
		rc = err_set(err, -EBUSY, "%s: somebody keeps replacing it", name);
	return rc ? rc : fd;
}

int lockfile_sign(int fd)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%d\n", getpid());

	return ftruncate(fd, 0) || pwrite(fd, text, (size_t)n, 0) != n ? -errno : 0;
}
