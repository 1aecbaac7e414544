/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/mount/fuse_ops.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "opfs/mount/fuse_attr.h"
#include "opfs/mount/fuse_dir.h"
#include "opfs/mount/fuse_file.h"
#include "opfs/mount/fuse_fs.h"
#include "opfs/mount/fuse_lookup.h"

static void fs_init(void *data, struct fuse_conn_info *conn)
{
	struct fuse_fs *fs = data;

	/* attributes take time here, so names are listed without them; and lookups in one
	 * directory must not wait for each other */
	conn->want &= ~(unsigned)(FUSE_CAP_READDIRPLUS | FUSE_CAP_READDIRPLUS_AUTO);
	fs->parallel = conn->capable & FUSE_CAP_PARALLEL_DIROPS;
	conn->want |= conn->capable & FUSE_CAP_PARALLEL_DIROPS;
	/* the kernel copies a long text from its file to the reader's pages itself */
	conn->want |= conn->capable & FUSE_CAP_SPLICE_WRITE;
}

/*
 * Nothing can be written.  The kernel refuses it itself while the mount is read-only;
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
	.releasedir = fs_release,
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

/* ---- the answer to INIT */

/*
 * libfuse 3.14.0, which Debian 12 has, takes FUSE_CAP_PARALLEL_DIROPS and never tells the
 * kernel: then all lookups in a directory wait for the slowest, even against signals.  So
 * the flag is added to the answer to INIT, the first of all answers, when it is written.
 */
struct init_answer {
	struct fuse_out_header header;
	struct fuse_init_out init;
};

static atomic_bool answered;

static bool is_init_answer(const struct iovec *iov, int count)
{
	const struct fuse_out_header *header = iov[0].iov_base;

	return count == 2 && iov[0].iov_len == sizeof(*header) && !header->error &&
	       iov[1].iov_len >= offsetof(struct fuse_init_out, max_background) &&
	       iov[1].iov_len <= sizeof(struct fuse_init_out);
}

/*
 * Not writev(3): by the time it returns the reader may have its answer, and have closed
 * the file, so another thread has freed what was sent.  The address sanitizer looks at
 * that after the call, and would report it.
 */
static ssize_t send_answer(int fd, const struct iovec *iov, int count)
{
	return syscall(SYS_writev, fd, iov, count);
}

static ssize_t fs_writev(int fd, struct iovec *iov, int count, void *data)
{
	struct fuse_fs *fs = data;
	struct fuse_init_out init = { 0 };
	struct iovec fixed[2];

	if (atomic_load_explicit(&answered, memory_order_relaxed) ||
	    atomic_exchange(&answered, true) || !fs->parallel ||
	    !is_init_answer(iov, count))
		return send_answer(fd, iov, count);
	memcpy(&init, iov[1].iov_base, iov[1].iov_len);
	init.flags |= FUSE_PARALLEL_DIROPS;
	fixed[0] = iov[0];
	fixed[1] = (struct iovec){ .iov_base = &init, .iov_len = iov[1].iov_len };
	return send_answer(fd, fixed, count);
}

static ssize_t fs_read_request(int fd, void *buf, size_t len, void *data)
{
	(void)data;
	return read(fd, buf, len);
}

/* Without this function libfuse would read what it could splice, and write it again. */
static ssize_t fs_splice(int in, off_t *in_off, int out, off_t *out_off, size_t len,
			 unsigned flags, void *data)
{
	(void)data;
	return splice(in, in_off, out, out_off, len, flags);
}

int fuse_fs_hook(struct fuse_session *session)
{
	static const struct fuse_custom_io io = { .writev = fs_writev,
						  .read = fs_read_request,
						  .splice_send = fs_splice };

	atomic_store(&answered, false);
	return fuse_session_custom_io(session, &io, fuse_session_fd(session));
}

/* ---- the file system */

static int init_root(struct fuse_fs *fs, struct err *err)
{
	struct node_attr attr;
	struct place root;
	int rc;

	place_root(&root);
	rc = fs_attr(fs, &root, NULL, FUSE_ROOT_ID, &attr);
	if (rc) {
		place_fini(&root);
		return err_errno(err, rc, "cannot read the session directory");
	}
	return node_table_init(&fs->nodes, &root, &attr, tree_cache(fs->tree), fs->shared,
			       err);
}

int fuse_fs_new(const struct fuse_fs_options *o, struct fuse_fs **out, struct err *err)
{
	struct fuse_fs *fs = calloc(1, sizeof(*fs));
	int rc;

	if (!fs)
		return err_set(err, -ENOMEM, "out of memory");
	fs->tree = o->tree;
	fs->shared = o->shared;
	handle_table_init(&fs->handles, &fs->nodes, o->held, o->shared);
	rc = init_root(fs, err);
	if (!rc)
		rc = worker_pool_new(o->workers, o->shared, &fs->pool, err);
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
	const char *session;  /* NULL: any */
	bool same;            /* it is still the same session */
	bool kept;            /* its name was looked up, and what was found still holds */
	struct node_attr now; /* of its directory; mode 0: not known yet */
};

/* The session that all of a place is of; NULL: it is of several, or of none. */
static const char *only_session(const struct node_place *where)
{
	const struct place *p = where ? &where->p : NULL;

	return p && p->spec && p->spec->nr_sessions == 1 && !p->base
		       ? p->spec->sessions[0]
		       : NULL;
}

/* Does a change concern the directory @n at @where?  Not if it is of one other session.
 * Of one that is to be looked for again, its name says so. */
static bool concerns(const struct change *c, const struct node *n,
		     const struct node_place *where)
{
	const char *only = only_session(where);

	if (c->session && !where)
		return !strcmp(n->name, c->session) ||
		       !tree_has_session(c->fs->tree, n->name);
	if (!c->session || !only)
		return true;
	/* anything but the session's own directory may match other sessions now */
	return where->p.kind != PLACE_PROFILE || where->p.tag ||
	       !strcmp(only, c->session);
}

/* Attributes of a node as they are now.  Those of the session's own directory are the
 * same by whatever name, of which one user may have many. */
static int attr_now(struct change *c, const struct node *n, const struct place *p,
		    bool own, struct node_attr *out)
{
	struct viewer asked = { .cred.uid = n->uid };
	int rc = 0;

	if (!own)
		return fs_attr(c->fs, p, &asked, 0, out);
	if (!c->now.mode)
		rc = fs_attr(c->fs, p, &asked, 0, &c->now);
	*out = c->now;
	return rc;
}

/* May others see a node than when it was looked up?  Where users see different things the
 * kernel asks for each name, and in a live session it remembers none for long. */
static bool opens_or_closes(struct change *c, struct node *n,
			    const struct node_place *where)
{
	struct node_attr now, then = node_told(&c->fs->nodes, n);
	const char *only = only_session(where);
	bool own = c->session && only && !strcmp(only, c->session);

	if (!where || !then.mode || fs_differs(c->fs, &where->p))
		return false;
	if (c->session && only && !own) /* another session */
		return false;
	if (!n->viewers && fs_personal(c->fs, &where->p)) /* it was found for all */
		return true;
	return attr_now(c, n, &where->p, own, &now) || now.mode != then.mode ||
	       now.uid != then.uid || now.gid != then.gid;
}

/*
 * A node that is in use brings back all that the kernel cached below it, so another
 * session under an old name needs another node.  What the kernel forgets is nobody's
 * working directory any more.
 */
static int forget_name(void *ctx, struct node *n, const struct node_place *where)
{
	struct change *c = ctx;

	if (!concerns(c, n, where) && strncmp(n->name, "session", strlen("session")) != 0)
		return 0;
	if (c->same && !opens_or_closes(c, n, where)) {
		c->kept |= c->session && !strcmp(n->name, c->session);
		return 0;
	}
	if (!c->same)
		node_unname(&c->fs->nodes, n);
	fuse_lowlevel_notify_inval_entry(c->fs->session, FUSE_ROOT_ID, n->name,
					 n->name_len);
	return 0;
}

void fuse_fs_changed(void *arg, const char *name, bool same)
{
	struct fuse_fs *fs = arg;
	struct change c = { .fs = fs, .session = name, .same = same };

	/* first, so that lookups that are under way are not cached for long */
	atomic_fetch_add(&fs->epoch, 1);
	node_children(&fs->nodes, fs->nodes.root, forget_name, &c);
	/* the kernel may remember that there was none, or be about to hear of it */
	if (name && !c.kept)
		fuse_lowlevel_notify_inval_entry(fs->session, FUSE_ROOT_ID, name,
						 strlen(name));
	fuse_lowlevel_notify_inval_inode(fs->session, FUSE_ROOT_ID, -1, 0);
	/* last: by names that the kernel still had it would be read again.  Without @name
	 * all would go: a user who makes many changes at once could have that. */
	if (name && !same)
		tree_forget(fs->tree, name);
}
