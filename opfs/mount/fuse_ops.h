/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_MOUNT_FUSE_OPS_H
#define OPFS_MOUNT_FUSE_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "opfs/tree/tree.h"

/* The mounted file system: requests of libfuse's low level interface, answered. */
struct fuse_fs;
struct fuse_lowlevel_ops;
struct fuse_session;

extern const struct fuse_lowlevel_ops fuse_fs_ops;
extern const size_t fuse_fs_ops_size;

struct fuse_fs_options {
	struct tree *tree; /* borrowed until fuse_fs_free() */
	bool shared;       /* other users may ask too */
	unsigned workers;  /* threads that render */
	uint64_t held;     /* bytes that what is open may hold */
};
int fuse_fs_new(const struct fuse_fs_options *o, struct fuse_fs **out, struct err *err);

/* Between mounting and the loop: enables parallel lookups in one directory.  0 or
 * -errno. */
int fuse_fs_hook(struct fuse_session *session);
/* Before the first request, and before anybody calls fuse_fs_changed(). */
void fuse_fs_start(struct fuse_fs *fs, struct fuse_session *session);
/* Before the first request: fuse_fs_changed() will be called, so the kernel may cache for
 * long. */
void fuse_fs_watched(struct fuse_fs *fs);

/**
 * fuse_fs_changed - a session has appeared, vanished, or got other permissions
 * @fs: struct fuse_fs
 * @name: which one; NULL: any
 * @same: it is still the same session, but other users may see it
 * The kernel forgets what it knew of it.  Waits for lookups at the root that are under
 * way: never call this from a thread that answers requests.
 */
void fuse_fs_changed(void *fs, const char *name, bool same);

/* Cancels all jobs, and answers their requests with EINTR. */
void fuse_fs_stop(struct fuse_fs *fs);
void fuse_fs_free(struct fuse_fs *fs);

#endif
