/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_MOUNT_FUSE_FILE_H
#define OPFS_MOUNT_FUSE_FILE_H

#define FUSE_USE_VERSION 314
#include <fuse_lowlevel.h>

#include "opfs/mount/fuse_fs.h"

/* Requests that read files. */
void fs_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void fs_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
	     struct fuse_file_info *fi);
/* RELEASEDIR too. */
void fs_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);

/* GETATTR of a file whose size is not known yet: its text is made.  Takes over @n. */
void fs_getattr_file(struct fuse_fs *fs, fuse_req_t req, struct node *n);

#endif
