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
#include "base/file.h"
#include "base/regular.h"
#include "libsym/file/seen.h"
#include "libsym/file/walk.h"

/* The file that a walk ended at. */
static int reopen(const struct sym_walk *w, struct stat *st)
{
	CLEANUP(close_fd) int fd = regular_reopen(w->at.fd, st);

	if (fd >= 0 && cred_is_other(w->cred) && !cred_allows(w->cred, st, S_IROTH))
		return -EACCES;
	return fd < 0 ? fd : take_fd(&fd);
}

int sym_open(const char *path, const struct cred *cred, struct err *err)
{
	CLEANUP(sym_walk_fini) struct sym_walk w = SYM_WALK_INIT(.cred = cred);
	struct stat st;
	int fd = sym_walk(&w, path);

	if (!fd)
		fd = reopen(&w, &st);
	sym_seen_file(path, fd);
	if (fd == -EXDEV)
		return err_set(
			err, fd,
			"%s: is not read: that is where the kernel, or opfs, shows "
			"what changes with who looks",
			path);
	if (fd == -EINVAL)
		return err_set(err, fd, "%s: is not a regular file", path);
	return fd < 0 ? err_errno(err, fd, "%s", path) : fd;
}

bool sym_is_regular(const char *path, const struct cred *cred)
{
	CLEANUP(sym_walk_fini) struct sym_walk w = SYM_WALK_INIT(.cred = cred);

	return !sym_walk(&w, path) && S_ISREG(w.at.mode);
}

int sym_open_at(const struct sym_job *job)
{
	CLEANUP(sym_walk_fini) struct sym_walk w = SYM_WALK_INIT(.top = job->at);
	CLEANUP(close_fd) int fd = -1;
	struct stat st;
	int rc = cred_is_other(job->cred) ? -EACCES : sym_walk(&w, job->path);

	sym_seen_doubt();
	if (rc)
		return rc;
	fd = reopen(&w, &st);
	if (fd >= 0 && job->inode && st.st_ino != job->inode)
		return -ESRCH;
	return fd < 0 ? fd : take_fd(&fd);
}

int sym_open_kernel(const char *path, const struct cred *cred, struct err *err)
{
	static const char *const kernel[] = { "/proc/kallsyms", "/proc/modules",
					      "/sys/kernel/notes" };

	for (size_t i = 0; i < sizeof(kernel) / sizeof(kernel[0]); i++) {
		int fd;

		if (strcmp(path, kernel[i]) != 0)
			continue;
		sym_seen_boot();
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
		return fd < 0 ? err_errno(err, -errno, "%s", path) : fd;
	}
	return sym_open(path, cred, err);
}

int sym_slurp(const char *path, size_t max, struct strbuf *out, struct err *err)
{
	CLEANUP(close_fd) int fd = sym_open_kernel(path, NULL, err);

	return fd < 0 ? fd : file_slurp_fd(fd, path, max, out, err);
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
