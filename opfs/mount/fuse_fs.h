/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_MOUNT_FUSE_FS_H
#define OPFS_MOUNT_FUSE_FS_H

#define FUSE_USE_VERSION 314
#include <fuse_lowlevel.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "opfs/mount/handle.h"
#include "opfs/mount/node.h"
#include "opfs/mount/worker.h"
#include "opfs/tree/tree.h"

/*
 * The mounted file system, and what the kernel is told about its nodes.  A request is
 * answered where it is received if that takes no time (viewer.quick, cached texts);
 * otherwise it becomes a job of the worker pool and is answered from there, so no request
 * waits for another's report.
 *
 * Lock order: libfuse's lock of a request, then the pool's.  The locks of the node table
 * and of the handles are taken inside no other; the cache's is taken inside the node
 * table's.  None is held while the tree works or the kernel is told anything.
 */
struct fuse_fs {
	struct tree *tree;
	struct node_table nodes;
	struct handle_table handles;
	struct worker_pool *pool;
	struct fuse_session *session;
	bool shared;       /* several users may ask: they see different things */
	bool parallel;     /* the kernel can look up several names in one directory */
	bool watched;      /* fuse_fs_changed() is called when sessions come and go */
	atomic_uint epoch; /* counts those calls */
};

enum { FS_BLOCK = 4096 }; /* what stat and statfs give as a size to read */

/* Seconds for which the kernel may remember. */
#define FS_LONG 3600.0
#define FS_SHORT 1.0

/* Answers GETATTR with what is known of a node at @p (NULL: a file). */
void fs_reply_attr(struct fuse_fs *fs, fuse_req_t req, struct node *n,
		   const struct place *p);

/**
 * fs_find - what @name in a directory is
 * @v: a quick one gets -EAGAIN if that takes long
 * Returns as tree_step(); @found is the caller's, fs_found_fini().
 */
int fs_find(struct fuse_fs *fs, struct node *parent, const struct node_name *name,
	    const struct viewer *v, struct node_found *found);
void fs_found_fini(struct node_found *found);

/*
 * The newest place of a node; of one that nobody has looked for yet, it is looked for, as
 * fs_find() does.  -ESTALE: it does not exist any more (the kernel then looks
 * the path up again); -EAGAIN: a quick viewer would have to wait; -EACCES: @v may not see
 * its sessions any more.
 */
int fs_place(struct fuse_fs *fs, struct node *n, const struct viewer *v,
	     struct node_place **out);
/* 0 if @v may see the sessions of a node, as they are now, else -EACCES: what was found
 * once is kept when a session is closed to others.  -ESTALE: of a file, whose directory
 * has to be looked for again. */
int fs_may_see(struct fuse_fs *fs, struct node *n, const struct viewer *v);
/* Attributes of a place, except a file's size; as they are for @v (NULL: anybody). */
int fs_attr(struct fuse_fs *fs, const struct place *p, const struct viewer *v,
	    uint64_t ino, struct node_attr *out);
uint64_t fs_ino(uint64_t parent, const char *name, size_t len, const struct place *file,
		uint64_t viewers);
void fs_stat(const struct node_attr *attr, struct stat *out);
/* A number that two different texts do not share. */
uint64_t fs_digest(const struct text *text);
/* Seconds for which attributes of a directory may be remembered. */
double fs_dir_timeout(const struct fuse_fs *fs, const struct place *p);
/* May users see different things behind @p?  Then, and behind all below, each has inode
 * numbers of his own. */
bool fs_differs(const struct fuse_fs *fs, const struct place *p);
/* The same, or may some not see it at all?  Then each has his own node, and the kernel
 * asks whenever it is looked up. */
bool fs_personal(const struct fuse_fs *fs, const struct place *p);
/* The errno that the kernel gets for a failure of the tree. */
int fs_errno(int rc);

static inline struct handle *fs_handle(const struct fuse_file_info *fi)
{
	return (struct handle *)(uintptr_t)fi->fh;
}

#endif
