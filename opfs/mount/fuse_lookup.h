/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_MOUNT_FUSE_LOOKUP_H
#define OPFS_MOUNT_FUSE_LOOKUP_H

#define FUSE_USE_VERSION 314
#include <fuse_lowlevel.h>

/* Requests that look up names, and messages that the kernel forgot a node. */
void fs_lookup(fuse_req_t req, fuse_ino_t parent, const char *name);
void fs_forget(fuse_req_t req, fuse_ino_t ino, uint64_t n);
void fs_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets);

#endif
