/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_MOUNT_FUSE_DIR_H
#define OPFS_MOUNT_FUSE_DIR_H

#define FUSE_USE_VERSION 314
#include <fuse_lowlevel.h>

/* Requests that list directories. */
void fs_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void fs_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		struct fuse_file_info *fi);

#endif
