/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libspec/sample/sample_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "libspec/sample/sample_read.h"

/* 0, also where the file system has nothing to do for it. */
static int sync_fd(int fd)
{
	return fsync(fd) && errno != EINVAL ? -errno : 0;
}

int spec_disk_sync(int session_fd, const char *path, struct err *err)
{
	CLEANUP(close_fd)
	int fd = file_open_within(session_fd, path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
	int rc;

	if (fd < 0)
		return err_errno(err, fd, "%s", path);
	rc = sync_fd(fd);
	return rc ? err_errno(err, rc, "%s: writing back", path) : 0;
}

static int total_of(int session_fd, const char *path, uint64_t *total, struct err *err)
{
	CLEANUP(spec_sample_fini) struct spec_sample_reader r = { 0 };
	int rc = spec_sample_open(session_fd, path, &r, err);

	*total = 0;
	return rc ? rc : spec_sample_total(&r, total, err);
}

/*
 * Pages that were refused are clean and still hold what the disk does not.  What even now
 * cannot be written stays dirty and cannot be let go.  0, or -errno of the latter.
 */
static int let_go(int session_fd, const char *path)
{
	CLEANUP(close_fd)
	int fd = file_open_within(session_fd, path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
	int rc = 0;

	if (fd < 0)
		return fd;
	/* the first failure may be of pages that are refused by now, or were before */
	if (sync_fd(fd))
		rc = sync_fd(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	return rc;
}

int spec_disk_find(int session_fd, const char *path, uint64_t sure, uint64_t *found,
		   struct err *err)
{
	int stuck = let_go(session_fd, path);
	int rc = total_of(session_fd, path, found, err);

	if (rc == -EBADMSG && !unlinkat(session_fd, path, 0))
		return 0;
	if (stuck && *found > sure)
		*found = sure;
	return rc;
}

int spec_disk_total(int session_fd, const char *path, uint64_t *found, struct err *err)
{
	if (spec_disk_sync(session_fd, path, NULL))
		return spec_disk_find(session_fd, path, 0, found, err);
	return total_of(session_fd, path, found, err);
}
