/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/file/open.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/cred.h"
#include "base/regular.h"

int sym_open(const char *path, const struct cred *cred, struct err *err)
{
	struct stat st;
	CLEANUP(close_fd) int fd = regular_open(path, &st);

	if (fd == -EINVAL)
		return err_set(err, -EINVAL, "%s: is not a regular file", path);
	if (fd < 0)
		return err_errno(err, fd, "%s", path);
	if (!cred_may_read(cred, fd))
		return err_errno(err, -EACCES, "%s", path);
	return take_fd(&fd);
}

int sym_open_at(const struct sym_job *job)
{
	struct stat st;
	CLEANUP(close_fd) int fd = -EACCES;

	if (!job->cred || job->cred->uid == geteuid())
		fd = regular_open_at(job->at, job->path, &st);
	if (fd >= 0 && job->inode && st.st_ino != job->inode)
		return -ESRCH;
	return fd < 0 ? fd : take_fd(&fd);
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
