/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/file/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"

int sym_open_cached(const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_CACHED };
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

struct sym_identity sym_identity_of_fd(int fd)
{
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &st))
		return (struct sym_identity){ 0 };
	return (struct sym_identity){
		.known = true,
		.mode = st.stx_mode,
		.uid = st.stx_uid,
		.gid = st.stx_gid,
		.dev = makedev(st.stx_dev_major, st.stx_dev_minor),
		.ino = st.stx_ino,
		.size = st.stx_size,
		.mtime_s = st.stx_mtime.tv_sec,
		.ctime_s = st.stx_ctime.tv_sec,
		.mtime_ns = st.stx_mtime.tv_nsec,
		.ctime_ns = st.stx_ctime.tv_nsec,
	};
}

struct sym_identity sym_identity_of(const char *path)
{
	CLEANUP(close_fd) int fd = sym_open_cached(path);

	if (fd < 0)
		return (struct sym_identity){ .known = fd == -ENOENT || fd == -ENOTDIR };
	return sym_identity_of_fd(fd);
}

bool sym_identity_same(const struct sym_identity *a, const struct sym_identity *b)
{
	return a->known && !memcmp(a, b, sizeof(*a));
}

bool sym_identity_fits(const struct sym_identity *id, const struct sym_table *t)
{
	return t->ino == id->ino && t->file_size == id->size && t->mtime == id->mtime_s &&
	       (!t->ino || t->dev == id->dev);
}
