/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_MOUNT_FUSE_REQUEST_H
#define OPFS_MOUNT_FUSE_REQUEST_H

#define FUSE_USE_VERSION 314
#include <fuse_lowlevel.h>

#include <stdint.h>
#include <sys/types.h>

#include "opfs/mount/fuse_fs.h"

/* Requests of the kernel: who asks, and how one becomes a job of the worker pool. */

/* The user who asks; outlives the request. */
struct fs_viewer {
	struct viewer v; /* the groups are its own */
	uint64_t key;    /* node_name.viewers of what only this one may see */
};
int fs_viewer_init(struct fuse_fs *fs, fuse_req_t req, struct fs_viewer *out);
/* The same, if he may use this node: a user who sees more, or less, may have looked it
 * up.  -ESTALE: not. */
int fs_viewer_of(struct fuse_fs *fs, fuse_req_t req, const struct node *n,
		 struct fs_viewer *out);
void fs_viewer_fini(struct fs_viewer *who);

/* handle_new() for who asks: takes over @text unless it fails, and a reference of its own
 * to @n.  That he has his share already is told in /status. */
int fs_handle_new(struct fuse_fs *fs, fuse_req_t req, struct node *n, struct text *text,
		  struct handle **out);
/* Tells a user in /status that he has as much open as he may.  Returns @rc. */
int fs_tell_full(struct fuse_fs *fs, uid_t uid, int rc);

/* A request that waits for a job. */
struct fs_waiter {
	struct waiter w; /* first */
	struct fuse_fs *fs;
	fuse_req_t req;
	struct fuse_file_info fi;
	size_t size; /* of a READDIR */
	off_t off;
	bool open; /* a file's text is for OPEN, not for GETATTR */
};

/* The beginning of every kind of work. */
struct fs_work {
	struct fuse_fs *fs;
	struct fs_viewer who; /* owned */
	struct node *node;    /* reference */
};
/* Work of @size bytes, zeroed behind struct fs_work.  Takes over @who and @node.  NULL:
 * out of memory, which @req was answered. */
void *fs_work_new(size_t size, struct fuse_fs *fs, fuse_req_t req, struct fs_viewer *who,
		  struct node *node);
void fs_work_fini(struct fs_work *work);

/* What a request asks for: equal ones share a job. */
struct fs_key {
	char op;
	const void *id; /* node or handle */
	const char *name;
};

/**
 * fs_ask - makes a job of a request
 * @work: taken over, also on failure
 * @wait: fi, size and off are copied from it
 * The request is answered, whatever happens.
 */
void fs_ask(struct fuse_fs *fs, fuse_req_t req, const struct job_ops *ops,
	    struct fs_work *work, const struct fs_key *key, const struct fs_waiter *wait);
/* Frees a waiter that reply() was given, and returns its request. */
fuse_req_t fs_waiter_take(struct fs_waiter *w);

#endif
