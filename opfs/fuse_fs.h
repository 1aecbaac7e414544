/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_FUSE_FS_H
#define OPFS_FUSE_FS_H

#define FUSE_USE_VERSION 314
#include <fuse_lowlevel.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "opfs/fuse_ops.h"
#include "opfs/handle.h"
#include "opfs/node.h"
#include "opfs/tree.h"
#include "opfs/worker.h"

/*
 * What the files opfs/fuse_*.c share.  A request is answered where it is received if
 * that takes no time (tree_quick(), cached texts); else it becomes a job of the worker
 * pool and is answered from there, so that no request waits for another's report.
 *
 * Lock order: libfuse's lock of a request, then the pool's.  The locks of the node table
 * and of the handles are leaves.  None is held while the tree works or the kernel is
 * told anything.
 */
struct fuse_fs {
	struct tree *tree;
	struct node_table nodes;
	struct handle_table handles;
	struct worker_pool *pool;
	struct fuse_session *session;
	bool shared;       /* several users may ask: they see different things */
	bool parallel;     /* the kernel can look up several names in one directory */
	bool watched;      /* somebody tells when sessions come and go: cache for long */
	atomic_uint epoch; /* counts those news */
};

/* Seconds for which the kernel may remember. */
#define FS_LONG 3600.0
#define FS_SHORT 1.0

/* Who asks, with what it takes to outlive the request. */
struct fs_viewer {
	struct viewer v;
	gid_t *groups;
	uint64_t key; /* node_name.viewers of what only this one may see */
};
int fs_viewer_init(struct fuse_fs *fs, fuse_req_t req, struct fs_viewer *out);
void fs_viewer_fini(struct fs_viewer *who);

/* A request that waits for a job. */
struct fs_waiter {
	struct waiter w; /* first */
	struct fuse_fs *fs;
	fuse_req_t req;
	struct fuse_file_info fi;
	size_t size; /* of a READDIR */
	off_t off;
	bool open; /* what a file's text is asked for: OPEN, or GETATTR */
};

/* Answers GETATTR with what is known of a node at @p (NULL: a file). */
void fs_reply_attr(struct fuse_fs *fs, fuse_req_t req, struct node *n,
		   const struct place *p);
/* GETATTR of a file whose size is not known yet.  Takes over @n. */
void fs_getattr_file(struct fuse_fs *fs, fuse_req_t req, struct node *n);

/* The beginning of every kind of work; see fs_work_init(). */
struct fs_work {
	struct fuse_fs *fs;
	struct fs_viewer who; /* owned */
	struct node *node;    /* reference */
};
/* Takes over @who and @node. */
void fs_work_init(struct fs_work *work, struct fuse_fs *fs, struct fs_viewer *who,
		  struct node *node);
void fs_work_fini(struct fs_work *work);

/* What a request asks for, to find equal ones. */
struct fs_key {
	char op;
	const void *id; /* node or handle */
	const char *name;
};

/**
 * fs_ask - makes a job of a request
 * @work: given away, in any case
 * @wait: fi, size and off are copied from it
 * The request is answered, whatever happens.
 */
void fs_ask(struct fuse_fs *fs, fuse_req_t req, const struct job_ops *ops,
	    struct fs_work *work, const struct fs_key *key, const struct fs_waiter *wait);
/* Was thread @tid interrupted by a signal that is to end what it waits for?  True if that
 * cannot be found out. */
bool fs_gives_up(pid_t tid);
/* The request of a waiter that reply() was given, free of it: the waiter is freed. */
fuse_req_t fs_waiter_take(struct fs_waiter *w);

/*
 * The newest place of a node.  -ESTALE: it is no more (the kernel then looks the path up
 * anew).  With @quick, the caller has asked tree_quick().
 */
int fs_place(struct fuse_fs *fs, struct node *n, const struct viewer *v,
	     struct node_place **out);
/* Attributes of a place but for a file's size. */
int fs_attr(struct fuse_fs *fs, const struct place *p, uint64_t ino,
	    struct node_attr *out);
uint64_t fs_ino(uint64_t parent, const char *name, size_t len, const struct place *file,
		uint64_t viewers);
void fs_stat(const struct node_attr *attr, struct stat *out);
/* A number that two different texts do not share. */
uint64_t fs_digest(const struct text *text);
/* How long attributes of a directory may be remembered. */
double fs_dir_timeout(const struct fuse_fs *fs, const struct place *p);
/* True if users may see different things behind @p. */
bool fs_personal(const struct fuse_fs *fs, const struct place *p);
/* errno for the kernel of a failure of the tree. */
int fs_errno(int rc);

void fs_lookup(fuse_req_t req, fuse_ino_t parent, const char *name);
void fs_forget(fuse_req_t req, fuse_ino_t ino, uint64_t n);
void fs_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets);
void fs_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void fs_readlink(fuse_req_t req, fuse_ino_t ino);
void fs_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size);
void fs_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size);
void fs_statfs(fuse_req_t req, fuse_ino_t ino);

void fs_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void fs_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
	     struct fuse_file_info *fi);
void fs_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);

void fs_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void fs_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		struct fuse_file_info *fi);
void fs_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);

#endif
