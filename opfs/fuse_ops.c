/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/fuse_ops.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "opfs/fuse_fs.h"

static void fs_init(void *data, struct fuse_conn_info *conn)
{
	struct fuse_fs *fs = data;

	/* attributes cost something here, so names come without them; and lookups in one
	 * directory must not wait for each other */
	conn->want &= ~(unsigned)(FUSE_CAP_READDIRPLUS | FUSE_CAP_READDIRPLUS_AUTO);
	fs->parallel = conn->capable & FUSE_CAP_PARALLEL_DIROPS;
	conn->want |= conn->capable & FUSE_CAP_PARALLEL_DIROPS;
}

/*
 * Nothing can be written.  The kernel says so itself as long as the mount is read-only;
 * these are for one that was remounted.
 */
static void ro_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int what,
		       struct fuse_file_info *fi)
{
	(void)ino, (void)attr, (void)what, (void)fi;
	fuse_reply_err(req, EROFS);
}

static void ro_mknod(fuse_req_t req, fuse_ino_t dir, const char *name, mode_t mode,
		     dev_t dev)
{
	(void)dir, (void)name, (void)mode, (void)dev;
	fuse_reply_err(req, EROFS);
}

static void ro_mkdir(fuse_req_t req, fuse_ino_t dir, const char *name, mode_t mode)
{
	(void)dir, (void)name, (void)mode;
	fuse_reply_err(req, EROFS);
}

static void ro_remove(fuse_req_t req, fuse_ino_t dir, const char *name)
{
	(void)dir, (void)name;
	fuse_reply_err(req, EROFS);
}

static void ro_symlink(fuse_req_t req, const char *target, fuse_ino_t dir,
		       const char *name)
{
	(void)target, (void)dir, (void)name;
	fuse_reply_err(req, EROFS);
}

static void ro_rename(fuse_req_t req, fuse_ino_t dir, const char *name, fuse_ino_t to,
		      const char *to_name, unsigned flags)
{
	(void)dir, (void)name, (void)to, (void)to_name, (void)flags;
	fuse_reply_err(req, EROFS);
}

static void ro_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t dir, const char *name)
{
	(void)ino, (void)dir, (void)name;
	fuse_reply_err(req, EROFS);
}

static void ro_create(fuse_req_t req, fuse_ino_t dir, const char *name, mode_t mode,
		      struct fuse_file_info *fi)
{
	(void)dir, (void)name, (void)mode, (void)fi;
	fuse_reply_err(req, EROFS);
}

static void ro_write(fuse_req_t req, fuse_ino_t ino, const char *data, size_t size,
		     off_t off, struct fuse_file_info *fi)
{
	(void)ino, (void)data, (void)size, (void)off, (void)fi;
	fuse_reply_err(req, EROFS);
}

static void ro_setxattr(fuse_req_t req, fuse_ino_t ino, const char *name,
			const char *value, size_t size, int flags)
{
	(void)ino, (void)name, (void)value, (void)size, (void)flags;
	fuse_reply_err(req, EROFS);
}

const struct fuse_lowlevel_ops fuse_fs_ops = {
	.init = fs_init,
	.lookup = fs_lookup,
	.forget = fs_forget,
	.forget_multi = fs_forget_multi,
	.getattr = fs_getattr,
	.readlink = fs_readlink,
	.open = fs_open,
	.read = fs_read,
	.release = fs_release,
	.opendir = fs_opendir,
	.readdir = fs_readdir,
	.releasedir = fs_releasedir,
	.statfs = fs_statfs,
	.getxattr = fs_getxattr,
	.listxattr = fs_listxattr,
	.setattr = ro_setattr,
	.mknod = ro_mknod,
	.mkdir = ro_mkdir,
	.unlink = ro_remove,
	.rmdir = ro_remove,
	.symlink = ro_symlink,
	.rename = ro_rename,
	.link = ro_link,
	.create = ro_create,
	.write = ro_write,
	.setxattr = ro_setxattr,
	.removexattr = ro_remove,
};
const size_t fuse_fs_ops_size = sizeof(fuse_fs_ops);

static int init_root(struct fuse_fs *fs, size_t text_bytes, struct err *err)
{
	struct node_attr attr;
	struct place root;
	int rc = tree_root(fs->tree, &root);

	if (rc)
		return err_errno(err, rc, "cannot begin the tree");
	rc = fs_attr(fs, &root, FUSE_ROOT_ID, &attr);
	if (rc) {
		place_fini(&root);
		return err_errno(err, rc, "cannot read the session directory");
	}
	return node_table_init(&fs->nodes, &root, &attr, text_bytes, err);
}

int fuse_fs_new(const struct fuse_fs_options *o, struct fuse_fs **out, struct err *err)
{
	struct fuse_fs *fs = calloc(1, sizeof(*fs));
	int rc;

	if (!fs)
		return err_set(err, -ENOMEM, "out of memory");
	fs->tree = o->tree;
	fs->shared = o->shared;
	handle_table_init(&fs->handles, &fs->nodes);
	rc = init_root(fs, o->text_bytes, err);
	if (!rc)
		rc = worker_pool_new(o->workers, &fs->pool, err);
	if (rc)
		fuse_fs_free(fs);
	else
		*out = fs;
	return rc;
}

void fuse_fs_start(struct fuse_fs *fs, struct fuse_session *session)
{
	fs->session = session;
}

void fuse_fs_watched(struct fuse_fs *fs)
{
	fs->watched = true;
}

void fuse_fs_stop(struct fuse_fs *fs)
{
	worker_pool_stop(fs->pool);
}

void fuse_fs_free(struct fuse_fs *fs)
{
	if (!fs)
		return;
	worker_pool_free(fs->pool);
	handle_table_fini(&fs->handles);
	node_table_fini(&fs->nodes);
	free(fs);
}

struct change {
	struct fuse_fs *fs;
	const char *session; /* NULL: any */
	bool same;           /* it is still the same session */
};

/* A directory of one other session has not changed. */
static bool concerns(const struct change *c, const struct node_place *where)
{
	const struct spec *spec = where ? where->p.spec : NULL;

	if (!c->session || !spec || spec->nr_sessions != 1)
		return true;
	/* a glob that matched one session may match two now: its value is still there */
	return where->p.kind != PLACE_PROFILE || where->p.tag || where->p.base ||
	       !strcmp(spec->sessions[0], c->session);
}

/*
 * What the kernel holds below a directory that is in use comes back with its node, so
 * another session under an old name needs another node.
 */
static int forget_name(void *ctx, struct node *n, const struct node_place *where)
{
	const struct change *c = ctx;

	if (!concerns(c, where) && strncmp(n->name, "session", strlen("session")) != 0)
		return 0;
	if (!c->same)
		node_unname(&c->fs->nodes, n);
	fuse_lowlevel_notify_inval_entry(c->fs->session, FUSE_ROOT_ID, n->name,
					 n->name_len);
	return 0;
}

void fuse_fs_changed(void *arg, const char *name, bool same)
{
	struct fuse_fs *fs = arg;
	struct change c = { fs, name, same };

	/* first: what is found from now on is new */
	atomic_fetch_add(&fs->epoch, 1);
	node_children(&fs->nodes, fs->nodes.root, forget_name, &c);
	/* there may have been none */
	if (name)
		fuse_lowlevel_notify_inval_entry(fs->session, FUSE_ROOT_ID, name,
						 strlen(name));
	fuse_lowlevel_notify_inval_inode(fs->session, FUSE_ROOT_ID, -1, 0);
}
