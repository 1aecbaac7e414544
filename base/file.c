/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

enum { CHUNK = 16 * 1024, MAX_DEPTH = 200, MAX_TRIES = 100 };
/* Each file of sysfs is said to be as long as a page, whatever it holds. */
enum { MAX_PAGE = 64 * 1024 };

int file_open_resolved(int dirfd, const char *path, int flags, uint64_t resolve)
{
	struct open_how how = { .flags = (unsigned)(flags | O_CLOEXEC),
				.resolve = resolve };
	int fd = (int)syscall(SYS_openat2, dirfd, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

int file_open_within(int dirfd, const char *path, int flags)
{
	int fd;

	if (dirfd == AT_FDCWD) {
		fd = open(path, flags | O_CLOEXEC);
		return fd < 0 ? -errno : fd;
	}
	fd = file_open_resolved(dirfd, path, flags,
				RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);
	if (fd != -ENOSYS && fd != -EPERM)
		return fd;
	/* not in this kernel or, EPERM, not in this container: at least the last one */
	fd = openat(dirfd, path, flags | O_CLOEXEC | O_NOFOLLOW);
	return fd < 0 ? -errno : fd;
}

bool file_is_dir(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

bool file_is_regular(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode);
}

static int too_much(struct err *err, const char *name, size_t max)
{
	return err_set(err, -EFBIG, "%s: holds more than %zu bytes", name, max);
}

/* @size: 0, or that of a file which is at its end once so much was read: reading then
 * comes back short and needs not be tried again. */
static int slurp(int fd, const char *name, size_t size, size_t max, struct strbuf *out,
		 struct err *err)
{
	size_t start = out->len;
	int rc = 0;

	while (!rc) {
		ssize_t n = strbuf_room(out, CHUNK) ? read(fd, out->data + out->len,
							   out->cap - out->len - 1)
						    : -1;

		if (strbuf_error(out))
			rc = err_errno(err, -ENOMEM, "%s", name);
		else if (n < 0 && errno != EINTR)
			rc = err_errno(err, -errno, "%s", name);
		else if (n > 0 && (size_t)n > max - (out->len - start))
			rc = too_much(err, name, max);
		else if (n > 0)
			out->len += (size_t)n;
		if (!n || (n > 0 && (size_t)n == size))
			break;
	}
	if (rc)
		out->len = start;
	if (out->data)
		out->data[out->len] = '\0';
	return rc;
}

int file_slurp_fd(int fd, const char *name, size_t max, struct strbuf *out,
		  struct err *err)
{
	return slurp(fd, name, 0, max, out, err);
}

int file_slurp(int dirfd, const char *path, size_t max, struct strbuf *out,
	       struct err *err)
{
	/* O_NONBLOCK: a named pipe without a writer must not hold us up */
	CLEANUP(close_fd)
	int fd = file_open_within(dirfd, path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
	size_t size = 0;
	struct stat st;

	if (fd < 0)
		return err_errno(err, fd, "%s", path);
	/* one that is all hole costs its owner nothing, and us whatever we read of it */
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0) {
		size = (size_t)st.st_size;
		if (size > max && size > MAX_PAGE)
			return too_much(err, path, max);
		strbuf_room(out, size + CHUNK);
	}
	return slurp(fd, path, size, max, out, err);
}

int file_write_all(int fd, const void *data, size_t len)
{
	const char *at = data;

	while (len) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return -EIO;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

/* At the descriptor's own offset where @off is NULL. */
static ssize_t read_all(int fd, char *data, size_t len, const off_t *off)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = off ? pread(fd, data + done, len - done, *off + (off_t)done)
				: read(fd, data + done, len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

ssize_t file_read_all(int fd, void *data, size_t len)
{
	return read_all(fd, data, len, NULL);
}

ssize_t file_pread_all(int fd, void *data, size_t len, off_t off)
{
	return read_all(fd, data, len, &off);
}

/* The directory part of @path with its slash, as printf's "%.*s" wants it. */
static int dir_len(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (int)(slash - path) + 1 : 0;
}

/* Creates a file beside @path and tells its name.  The descriptor or -errno. */
static int create_beside(int dirfd, const char *path, mode_t mode,
			 char tmp[static PATH_MAX])
{
	static unsigned counter;

	for (int i = 0; i < MAX_TRIES; i++) {
		unsigned id = __atomic_add_fetch(&counter, 1, __ATOMIC_RELAXED);
		int n = snprintf(tmp, PATH_MAX, "%.*s.tmp.%d.%u", dir_len(path), path,
				 (int)getpid(), id);
		int fd;

		if (n < 0 || n >= PATH_MAX)
			return -ENAMETOOLONG;
		fd = openat(dirfd, tmp,
			    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
		if (fd >= 0)
			return fd;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

/* Makes the entries of @path's directory last a power failure. */
static int sync_dir(int dirfd, const char *path)
{
	char dir[PATH_MAX];
	CLEANUP(close_fd) int fd = -1;

	snprintf(dir, sizeof(dir), "%.*s", dir_len(path), path);
	fd = openat(dirfd, *dir ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fsync(fd))
		return -errno;
	return 0;
}

static int fill(int fd, const void *data, size_t len, bool sync)
{
	int rc = file_write_all(fd, data, len);

	if (!rc && sync && fsync(fd))
		rc = -errno;
	if (close(fd) && !rc)
		rc = -errno;
	return rc;
}

int file_replace(int dirfd, const char *path, const void *data, size_t len, mode_t mode,
		 int sync, struct err *err)
{
	char tmp[PATH_MAX];
	int fd, rc;

	fd = create_beside(dirfd, path, mode, tmp);
	if (fd < 0)
		return err_errno(err, fd, "%s", path);
	rc = fill(fd, data, len, sync);
	if (!rc && renameat(dirfd, tmp, dirfd, path))
		rc = -errno;
	if (rc)
		unlinkat(dirfd, tmp, 0);
	else if (sync)
		rc = sync_dir(dirfd, path);
	return rc ? err_errno(err, rc, "%s", path) : 0;
}

int file_unnamed(void)
{
	const char *tmpdir = getenv("TMPDIR");
	const char *const dirs[] = { tmpdir ? tmpdir : "/var/tmp", "/var/tmp", "/tmp" };
	int fd = -1;

	for (size_t i = 0; fd < 0 && i < sizeof(dirs) / sizeof(dirs[0]); i++)
		fd = open(dirs[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}

size_t file_raise_limit(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim))
		return 0;
	if (lim.rlim_cur < lim.rlim_max) {
		lim.rlim_cur = lim.rlim_max;
		if (setrlimit(RLIMIT_NOFILE, &lim))
			getrlimit(RLIMIT_NOFILE, &lim);
	}
	return lim.rlim_cur;
}

/* How much of a path is there, at least, or was made: its last part first, for usually
 * little is missing.  0: that is not known. */
static size_t mkdir_deepest(int dirfd, char *path, size_t len, mode_t mode)
{
	for (size_t i = len; i > 0; i--) {
		char end = path[i];
		int rc;

		if (end != '/' && end != '\0')
			continue;
		path[i] = '\0';
		rc = mkdirat(dirfd, path, mode) && errno != EEXIST ? -errno : 0;
		path[i] = end;
		if (rc != -ENOENT)
			return rc ? 0 : i;
	}
	return 0;
}

int file_mkdirs(int dirfd, const char *path, mode_t mode, struct err *err)
{
	char part[PATH_MAX];
	struct stat st;
	size_t len = strlen(path);

	if (!len || len >= sizeof(part))
		return err_errno(err, len ? -ENAMETOOLONG : -ENOENT, "%s", path);
	memcpy(part, path, len + 1);
	for (size_t i = mkdir_deepest(dirfd, part, len, mode) + 1; i <= len; i++) {
		char end = part[i];

		if (end != '/' && end != '\0')
			continue;
		part[i] = '\0';
		if (mkdirat(dirfd, part, mode) && errno != EEXIST) {
			int rc = -errno;

			if (fstatat(dirfd, part, &st, 0) || !S_ISDIR(st.st_mode))
				return err_errno(err, rc, "%s", part);
		}
		part[i] = end;
	}
	if (fstatat(dirfd, path, &st, 0))
		return err_errno(err, -errno, "%s", path);
	if (!S_ISDIR(st.st_mode))
		return err_errno(err, -ENOTDIR, "%s", path);
	return 0;
}

static int remove_tree(int dirfd, const char *name, int depth);

/* Removes what is in a directory.  Takes @fd. */
static int remove_entries(int fd, int depth)
{
	CLEANUP(close_dir) DIR *dir = fdopendir(fd);

	if (!dir) {
		close(fd);
		return -errno;
	}
	for (;;) {
		struct dirent *de;
		int rc;

		errno = 0;
		de = readdir(dir);
		if (!de)
			return -errno;
		if (!strcmp(de->d_name, ".") || !strcmp(de->d_name, ".."))
			continue;
		rc = remove_tree(fd, de->d_name, depth + 1);
		if (rc)
			return rc;
	}
}

static int remove_tree(int dirfd, const char *name, int depth)
{
	int fd, rc;

	if (!unlinkat(dirfd, name, 0) || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	if (depth > MAX_DEPTH)
		return -ELOOP;
	fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	rc = remove_entries(fd, depth);
	if (rc)
		return rc;
	if (unlinkat(dirfd, name, AT_REMOVEDIR) && errno != ENOENT)
		return -errno;
	return 0;
}

int file_remove_tree(int dirfd, const char *path, struct err *err)
{
	int rc = remove_tree(dirfd, path, 0);

	return rc ? err_errno(err, rc, "%s", path) : 0;
}

bool file_is_below(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	while (len && dir[len - 1] == '/')
		len--;
	return !strncmp(path, dir, len) && (!path[len] || path[len] == '/');
}
