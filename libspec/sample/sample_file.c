/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libspec/sample/sample_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "libspec/sample/sample_write.h"

enum { MAX_TRIES = 100, DIR_MODE = 0755, FILE_MODE = 0644, SMALL = 8 * 1024 };

static const char new_dir[] = ".new";

void spec_sample_file_fini(struct spec_sample_file *f)
{
	spec_guard_free(f->guard);
	if (f->base)
		munmap(f->base, f->len);
	if (f->fd > 0)
		close(f->fd);
	*f = (struct spec_sample_file){ 0 };
}

/* openat() that never returns a standard descriptor; 0 means none here. */
static int open_high(int dirfd, const char *path, int flags, mode_t mode)
{
	int fd = openat(dirfd, path,
			flags | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK, mode);
	int high;

	if (fd > STDERR_FILENO || fd < 0)
		return fd < 0 ? -errno : fd;
	high = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (high < 0)
		high = -errno;
	close(fd);
	return high;
}

int spec_sample_file_open(int session_fd, const char *path, struct err *err)
{
	CLEANUP(close_fd) int fd = open_high(session_fd, path, O_RDWR, 0);
	struct stat st;

	if (fd < 0)
		return err_errno(err, fd, "%s", path);
	if (fstat(fd, &st))
		return err_errno(err, -errno, "%s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, -EBADMSG, "%s: not a regular file", path);
	return take_fd(&fd);
}

/* True if the file has holes: a store into one may find the disk full. */
static bool has_holes(int fd, size_t len)
{
	struct stat st;

	return fstat(fd, &st) || (size_t)st.st_size < len ||
	       (uint64_t)st.st_blocks * 512 < len;
}

int spec_sample_file_map(struct spec_sample_file *f, size_t len, const char *path,
			 struct err *err)
{
	void *base;
	int rc = has_holes(f->fd, len) ? posix_fallocate(f->fd, 0, (off_t)len) : 0;

	if (rc)
		return err_errno(err, -rc, "%s: no room for %zu bytes", path, len);
	base = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd, 0);
	if (base == MAP_FAILED)
		return err_errno(err, -errno, "%s: mmap of %zu bytes", path, len);
	f->guard = spec_guard_new(base, len);
	if (!f->guard) {
		munmap(base, len);
		return err_errno(err, -ENOMEM, "%s", path);
	}
	f->base = base;
	f->len = len;
	return 0;
}

/* Creates a file in .new/; the descriptor or -errno. */
static int create_aside(int session_fd, char tmp[SPEC_SAMPLE_TMP_MAX])
{
	static unsigned counter;

	for (int i = 0; i < MAX_TRIES; i++) {
		unsigned id = __atomic_add_fetch(&counter, 1, __ATOMIC_RELAXED);
		int fd;

		snprintf(tmp, SPEC_SAMPLE_TMP_MAX, "%s/%d.%u", new_dir, (int)getpid(),
			 id);
		fd = open_high(session_fd, tmp, O_RDWR | O_CREAT | O_EXCL, FILE_MODE);
		if (fd == -ENOENT && !i) {
			if (mkdirat(session_fd, new_dir, DIR_MODE) && errno != EEXIST)
				return -errno;
		} else if (fd != -EEXIST) {
			return fd;
		}
	}
	return -EEXIST;
}

/* Zeros that are written are cheaper than blocks reserved and faulted in, if few. */
static int reserve(int fd, size_t len)
{
	static const char zeros[SMALL];

	return len <= SMALL ? file_write_all(fd, zeros, len) : 0;
}

static int make(struct spec_sample_file *f, size_t len, const char *path, struct err *err)
{
	int rc = reserve(f->fd, len);

	if (rc)
		return err_errno(err, rc, "%s: no room for %zu bytes", path, len);
	rc = spec_sample_file_map(f, len, path, err);
	if (!rc && len > SMALL) /* a fault a page would cost more; only a help */
		madvise(f->base, len, MADV_POPULATE_WRITE);
	return rc;
}

int spec_sample_file_make(int session_fd, const char *path, size_t len,
			  struct spec_sample_file *out, char tmp[SPEC_SAMPLE_TMP_MAX],
			  struct err *err)
{
	CLEANUP(spec_sample_file_fini) struct spec_sample_file f = { 0 };
	int rc = create_aside(session_fd, tmp);

	if (rc < 0)
		return err_errno(err, rc, "%s", path);
	f.fd = rc;
	rc = make(&f, len, path, err);
	if (rc) {
		unlinkat(session_fd, tmp, 0);
		return rc;
	}
	*out = TAKE(f);
	return 0;
}

int spec_sample_file_write(int session_fd, const char *path, const void *data, size_t len,
			   char tmp[SPEC_SAMPLE_TMP_MAX], struct err *err)
{
	CLEANUP(close_fd) int fd = create_aside(session_fd, tmp);
	int rc = fd < 0 ? fd : file_write_all(fd, data, len);

	if (!rc && fsync(fd))
		rc = -errno;
	if (rc && fd >= 0)
		unlinkat(session_fd, tmp, 0);
	return rc ? err_errno(err, rc, "%s", path) : 0;
}

int spec_rename_new(int dirfd, const char *from, const char *to)
{
	if (!renameat2(dirfd, from, dirfd, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	/* a file system without it */
	if (linkat(dirfd, from, dirfd, to, 0))
		return -errno;
	unlinkat(dirfd, from, 0);
	return 0;
}

int spec_sample_file_publish(int session_fd, const char *tmp, const char *path,
			     struct err *err)
{
	char dir[PATH_MAX];
	const char *slash = strrchr(path, '/');
	int rc = spec_rename_new(session_fd, tmp, path);

	if (rc == -ENOENT && slash && (size_t)(slash - path) < sizeof(dir)) {
		snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path), path);
		rc = file_mkdirs(session_fd, dir, DIR_MODE, err);
		if (rc)
			return rc;
		rc = spec_rename_new(session_fd, tmp, path);
	}
	return rc ? err_errno(err, rc, "%s", path) : 0;
}

int spec_sample_sweep(int session_fd, struct err *err)
{
	int fd = openat(session_fd, new_dir,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	CLEANUP(close_dir) DIR *dir = NULL;

	if (fd < 0)
		return errno == ENOENT ? 0 : err_errno(err, -errno, "%s", new_dir);
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return err_errno(err, -ENOMEM, "%s", new_dir);
	}
	for (;;) {
		struct dirent *de = readdir(dir);

		if (!de)
			return 0;
		if (de->d_name[0] == '.')
			continue;
		if (unlinkat(fd, de->d_name, 0) && errno != ENOENT)
			return err_errno(err, -errno, "%s/%s", new_dir, de->d_name);
	}
}
