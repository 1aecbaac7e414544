/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_MOUNT_FUSE_ATTR_H
#define OPFS_MOUNT_FUSE_ATTR_H

#define FUSE_USE_VERSION 314
#include <fuse_lowlevel.h>

/* Requests about what a node is, not what it holds. */
void fs_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void fs_readlink(fuse_req_t req, fuse_ino_t ino);
void fs_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size);
void fs_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size);
void fs_statfs(fuse_req_t req, fuse_ino_t ino);

#endif
