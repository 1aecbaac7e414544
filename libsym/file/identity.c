/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/file/identity.h"

#include <errno.h>
#include <fcntl.h>

#include "base/cleanup.h"
#include "libsym/file/open.h"

struct sym_identity sym_identity_of(const char *path)
{
	CLEANUP(close_fd) int fd = sym_open_cached(path);
	struct sym_identity id = { 0 };

	if (fd < 0)
		id.known = fd == -ENOENT || fd == -ENOTDIR;
	else
		id.known = !statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
				  STATX_BASIC_STATS, &id.st);
	return id;
}

static bool same_time(const struct statx_timestamp *a, const struct statx_timestamp *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

bool sym_identity_same(const struct sym_identity *a, const struct sym_identity *b)
{
	const struct statx *x = &a->st, *y = &b->st;

	return a->known && b->known && x->stx_ino == y->stx_ino &&
	       x->stx_dev_major == y->stx_dev_major &&
	       x->stx_dev_minor == y->stx_dev_minor && x->stx_size == y->stx_size &&
	       x->stx_mode == y->stx_mode && x->stx_uid == y->stx_uid &&
	       x->stx_gid == y->stx_gid && same_time(&x->stx_mtime, &y->stx_mtime) &&
	       same_time(&x->stx_ctime, &y->stx_ctime);
}
