/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libspec/session/reserve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"

/* A figure that was 0 so far uses one up: as many as there may be of those that begin to
 * count while there is no space. */
enum { ROOMS = 12, BLOCK = 4096, PATH_ROOM = 32, FILE_MODE = 0644 };

static void name_room(int i, char *path)
{
	snprintf(path, PATH_ROOM, "stats/.room%d", i);
}

static int make_one(int session_fd, const char *path)
{
	CLEANUP(close_fd)
	int fd = openat(session_fd, path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
			FILE_MODE);

	return fd < 0 ? -errno : -posix_fallocate(fd, 0, BLOCK);
}

int spec_room_make(int session_fd, struct err *err)
{
	int rc = file_mkdirs(session_fd, "stats", 0755, err);

	for (int i = 0; i < ROOMS && !rc; i++) {
		char path[PATH_ROOM];

		name_room(i, path);
		rc = make_one(session_fd, path);
		if (rc)
			return err_errno(err, rc, "%s", path);
	}
	return rc;
}

void spec_room_drop(int session_fd)
{
	for (int i = 0; i < ROOMS; i++) {
		char path[PATH_ROOM];

		name_room(i, path);
		unlinkat(session_fd, path, 0);
	}
}

static int put_in_place(int session_fd, const char *room, const char *path)
{
	if (!renameat2(session_fd, room, session_fd, path, RENAME_EXCHANGE))
		return 0;
	/* nothing there, or a file system that cannot exchange: that uses it up */
	return renameat(session_fd, room, session_fd, path) ? -errno : 0;
}

static int use_room(int session_fd, const char *room, const char *path, const void *data,
		    size_t len)
{
	CLEANUP(close_fd)
	int fd = openat(session_fd, room, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = pwrite(fd, data, len, 0);
	if (n != (ssize_t)len)
		return n < 0 ? -errno : -ENOSPC;
	if (ftruncate(fd, (off_t)len))
		return -errno;
	return put_in_place(session_fd, room, path);
}

int spec_room_replace(int session_fd, const char *path, const void *data, size_t len,
		      struct err *err)
{
	int rc = file_replace(session_fd, path, data, len, FILE_MODE, 0, err);

	if (rc != -ENOSPC && rc != -EDQUOT)
		return rc;
	for (int i = 0; i < ROOMS; i++) {
		char room[PATH_ROOM];

		name_room(i, room);
		if (!use_room(session_fd, room, path, data, len))
			return 0;
	}
	return rc;
}
