/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/file/open.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/cred.h"

int sym_open(const char *path, const struct cred *cred, struct err *err)
{
	CLEANUP(close_fd) int at = open(path, O_PATH | O_CLOEXEC);
	char self[32];
	struct stat st;
	CLEANUP(close_fd) int fd = -1;

	if (at < 0 || fstat(at, &st))
		return err_errno(err, -errno, "%s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, -EINVAL, "%s: is not a regular file", path);
	snprintf(self, sizeof(self), "/proc/self/fd/%d", at);
	fd = open(self, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0 && errno == ENOENT) /* no /proc here */
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return err_errno(err, -errno, "%s", path);
	if (!cred_may_read(cred, fd))
		return err_errno(err, -EACCES, "%s", path);
	return take_fd(&fd);
}

bool sym_open_directory(int fd, struct strbuf *out)
{
	char self[32], path[PATH_MAX];
	ssize_t len;
	char *slash;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	len = readlink(self, path, sizeof(path) - 1);
	if (len <= 0 || path[0] != '/')
		return false;
	path[len] = '\0';
	slash = strrchr(path, '/');
	strbuf_add(out, path, (size_t)(slash - path));
	return !strbuf_error(out);
}
