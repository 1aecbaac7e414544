/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

/* @at: of O_PATH, or -1 and errno */
static int open_it(int at, const char *path, struct stat *st)
{
	char self[32];
	int fd;

	if (at < 0 || fstat(at, st))
		return -errno;
	if (!S_ISREG(st->st_mode))
		return -EINVAL;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", at);
	fd = open(self, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0 && errno == ENOENT && path) /* no /proc here */
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

int regular_open(const char *path, struct stat *st)
{
	CLEANUP(close_fd) int at = open(path, O_PATH | O_CLOEXEC);

	return open_it(at, path, st);
}

int regular_reopen(int at, struct stat *st)
{
	return open_it(at, NULL, st);
}

int regular_open_at(const char *at, const char *path, struct stat *st)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	CLEANUP(close_fd) int top = open(at, O_PATH | O_CLOEXEC);
	CLEANUP(close_fd) int fd = -1;

	if (top < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	if (fstat(top, st))
		return -errno;
	if (!S_ISDIR(st->st_mode))
		return open_it(top, NULL, st);
	fd = (int)syscall(SYS_openat2, top, path, &how, sizeof(how));
	return open_it(fd, NULL, st);
}
