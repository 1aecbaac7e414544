/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/mount/fuse_attr.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "opfs/mount/fuse_file.h"
#include "opfs/mount/fuse_fs.h"
#include "opfs/mount/fuse_request.h"

enum { NAME_MAX_BYTES = 1024 };

static int getattr_run(void *arg, const atomic_bool *cancel)
{
	struct fs_work *work = arg;
	struct node_place *np;
	int rc;

	work->who.v.cancel = cancel;
	rc = fs_place(work->fs, work->node, &work->who.v, &np);
	if (!rc)
		node_place_put(np);
	return rc;
}

static void getattr_reply(void *arg, int rc, struct waiter *w)
{
	struct fs_work *work = arg;
	fuse_req_t req = fs_waiter_take((struct fs_waiter *)w);
	struct node_place *np = NULL;
	unsigned epoch;

	if (!rc) {
		np = node_where(&work->fs->nodes, work->node, &epoch);
		rc = np ? 0 : -ESTALE;
	}
	if (rc)
		fuse_reply_err(req, fs_errno(rc));
	else
		fs_reply_attr(work->fs, req, work->node, &np->p);
	node_place_put(np);
}

static void getattr_free(void *arg)
{
	fs_work_fini(arg);
	free(arg);
}

static const struct job_ops getattr_ops = { getattr_run, getattr_reply, getattr_free };

static void getattr_ask(struct fuse_fs *fs, fuse_req_t req, struct node *n,
			struct fs_viewer *who)
{
	struct fs_work *work = fs_work_new(sizeof(*work), fs, req, who, n);

	if (work)
		fs_ask(fs, req, &getattr_ops, work,
		       &(struct fs_key){ .op = 'a', .id = n }, &(struct fs_waiter){ 0 });
}

/* A directory may have moved to another generation.  Takes over @n. */
static void getattr_dir(struct fuse_fs *fs, fuse_req_t req, struct node *n)
{
	CLEANUP(fs_viewer_fini) struct fs_viewer who = { 0 };
	struct node_place *np;
	int rc = fs_viewer_of(fs, req, n, &who);

	if (!rc)
		rc = fs_place(fs, n, &who.v, &np);
	if (rc == -EAGAIN) {
		getattr_ask(fs, req, n, &who);
		return;
	}
	if (rc) {
		fuse_reply_err(req, fs_errno(rc));
	} else {
		fs_reply_attr(fs, req, n, &np->p);
		node_place_put(np);
	}
	node_put(&fs->nodes, n);
}

void fs_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fuse_fs *fs = fuse_req_userdata(req);
	struct node *n = node_get(&fs->nodes, ino);
	struct node_attr attr;

	(void)fi;
	if (!n) {
		fuse_reply_err(req, ESTALE);
		return;
	}
	attr = node_attr_of(&fs->nodes, n);
	if (S_ISDIR(attr.mode)) {
		getattr_dir(fs, req, n);
	} else if (!attr.sized) {
		fs_getattr_file(fs, req, n);
	} else {
		fs_reply_attr(fs, req, n, NULL);
		node_put(&fs->nodes, n);
	}
}

void fs_readlink(fuse_req_t req, fuse_ino_t ino)
{
	struct fuse_fs *fs = fuse_req_userdata(req);
	struct node *n = node_get(&fs->nodes, ino);
	struct node_place *np = NULL;
	unsigned epoch;

	if (n)
		np = node_where(&fs->nodes, n, &epoch);
	if (!np)
		fuse_reply_err(req, ESTALE);
	else if (np->p.kind != PLACE_LINK || !np->p.target)
		fuse_reply_err(req, EINVAL);
	else
		fuse_reply_readlink(req, np->p.target);
	node_place_put(np);
	node_put(&fs->nodes, n);
}

static int xattr_samples(const struct place *p, const struct viewer *reader,
			 struct strbuf *out)
{
	(void)reader;
	strbuf_printf(out, "%llu", (unsigned long long)place_samples(p));
	return 0;
}

static int xattr_percent(const struct place *p, const struct viewer *reader,
			 struct strbuf *out)
{
	uint64_t all = place_session_samples(p);

	(void)reader;
	if (!all)
		return -ENODATA;
	strbuf_printf(out, "%.4f", 100.0 * (double)place_samples(p) / (double)all);
	return 0;
}

static int add_known(const char *text, struct strbuf *out)
{
	if (!text)
		return -ENODATA;
	strbuf_puts(out, text);
	return 0;
}

static int xattr_path(const struct place *p, const struct viewer *reader,
		      struct strbuf *out)
{
	(void)reader;
	return add_known(place_image_path(p), out);
}

static int xattr_comm(const struct place *p, const struct viewer *reader,
		      struct strbuf *out)
{
	const struct spec_task *task = place_task(p, reader);

	return add_known(task ? task->comm : NULL, out);
}

static int xattr_cmdline(const struct place *p, const struct viewer *reader,
			 struct strbuf *out)
{
	const struct spec_task *task = place_task(p, reader);

	return add_known(task ? task->cmdline : NULL, out);
}

static int xattr_cgroup(const struct place *p, const struct viewer *reader,
			struct strbuf *out)
{
	const struct spec_task *task = place_task(p, reader);

	return add_known(task ? task->cgroup : NULL, out);
}

/* Extended attributes of directories. */
static const struct {
	const char *name;
	/* 0 or -errno */
	int (*get)(const struct place *p, const struct viewer *reader,
		   struct strbuf *out);
} xattrs[] = {
	{ "user.opfs.samples", xattr_samples }, { "user.opfs.percent", xattr_percent },
	{ "user.opfs.path", xattr_path },       { "user.opfs.comm", xattr_comm },
	{ "user.opfs.cmdline", xattr_cmdline }, { "user.opfs.cgroup", xattr_cgroup },
};
enum { NR_XATTRS = sizeof(xattrs) / sizeof(xattrs[0]) };

/* Where a directory is: its newest place if that is quick to find, else the last one.
 * NULL: it is none.  -EAGAIN: @v may not see the last one any more. */
static int dir_place(struct fuse_fs *fs, struct node *n, const struct viewer *v,
		     struct node_place **out)
{
	unsigned epoch;
	int rc;

	if (!S_ISDIR(node_attr_of(&fs->nodes, n).mode))
		return 0;
	rc = fs_place(fs, n, v, out);
	if (!rc || rc == -EACCES)
		return rc;
	if (fs_may_see(fs, n, v))
		return rc == -EAGAIN ? rc : -EACCES;
	*out = node_where(&fs->nodes, n, &epoch);
	return 0;
}

/* Answers GETXATTR and LISTXATTR, where @size 0 asks for the length. */
static void reply_xattr(fuse_req_t req, const char *data, size_t len, size_t size)
{
	if (!size)
		fuse_reply_xattr(req, len);
	else if (size < len)
		fuse_reply_err(req, ERANGE);
	else
		fuse_reply_buf(req, data, len);
}

/* The value of attribute number @which; -1: the names of those that have a value, since
 * programs that copy them fail on others.  @p NULL: of what is no directory. */
static int xattr_text(const struct place *p, int which, const struct viewer *reader,
		      struct strbuf *out)
{
	CLEANUP(strbuf_fini) struct strbuf value = { 0 };

	if (which >= 0)
		return p ? xattrs[which].get(p, reader, out) : -ENODATA;
	for (int i = 0; p && i < NR_XATTRS; i++)
		if (!xattrs[i].get(p, reader, &value))
			strbuf_add(out, xattrs[i].name, strlen(xattrs[i].name) + 1);
	return strbuf_error(&value);
}

static void reply_xattr_of(fuse_req_t req, const struct place *p, int which,
			   const struct viewer *reader, size_t size)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	int rc = xattr_text(p, which, reader, &text);

	rc = rc ? rc : strbuf_error(&text);
	if (rc)
		fuse_reply_err(req, fs_errno(rc));
	else
		reply_xattr(req, strbuf_str(&text), text.len, size);
}

/* Of a directory that is looked for only now. */
struct xattr_work {
	struct fs_work work; /* first */
	int which;
};

static void xattr_reply(void *arg, int rc, struct waiter *w)
{
	CLEANUP(node_place_fini) struct node_place *np = NULL;
	struct xattr_work *x = arg;
	size_t size = ((struct fs_waiter *)w)->size;
	fuse_req_t req = fs_waiter_take((struct fs_waiter *)w);
	unsigned epoch;

	if (!rc)
		np = node_where(&x->work.fs->nodes, x->work.node, &epoch);
	if (rc)
		fuse_reply_err(req, fs_errno(rc));
	else
		reply_xattr_of(req, np ? &np->p : NULL, x->which,
			       tree_reader(x->work.fs->tree, &x->work.who.v), size);
}

static const struct job_ops xattr_ops = { getattr_run, xattr_reply, getattr_free };

/* Takes over @n and @who. */
static void xattr_ask(struct fuse_fs *fs, fuse_req_t req, struct node *n,
		      struct fs_viewer *who, int which, size_t size)
{
	struct xattr_work *x = fs_work_new(sizeof(*x), fs, req, who, n);

	if (!x)
		return;
	x->which = which;
	fs_ask(fs, req, &xattr_ops, &x->work,
	       &(struct fs_key){
		       .op = 'x', .id = n, .name = which < 0 ? "" : xattrs[which].name },
	       &(struct fs_waiter){ .size = size });
}

static void get_xattr(struct fuse_fs *fs, fuse_req_t req, fuse_ino_t ino, int which,
		      size_t size)
{
	CLEANUP(fs_viewer_fini) struct fs_viewer who = { 0 };
	CLEANUP(node_place_fini) struct node_place *np = NULL;
	struct node *n = node_get(&fs->nodes, ino);
	int rc = n ? fs_viewer_of(fs, req, n, &who) : -ESTALE;

	if (!rc)
		rc = node_is_later(&fs->nodes, n) ? -EAGAIN
						  : dir_place(fs, n, &who.v, &np);
	if (rc == -EAGAIN) {
		xattr_ask(fs, req, n, &who, which, size);
		return;
	}
	if (rc)
		fuse_reply_err(req, fs_errno(rc));
	else
		reply_xattr_of(req, np ? &np->p : NULL, which,
			       tree_reader(fs->tree, &who.v), size);
	node_put(&fs->nodes, n);
}

void fs_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
	int which = 0;

	while (which < NR_XATTRS && strcmp(name, xattrs[which].name) != 0)
		which++;
	if (which < NR_XATTRS)
		get_xattr(fuse_req_userdata(req), req, ino, which, size);
	else
		fuse_reply_err(req, ENODATA);
}

void fs_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size)
{
	get_xattr(fuse_req_userdata(req), req, ino, -1, size);
}

/* As in /proc there are no blocks, so df leaves it out. */
void fs_statfs(fuse_req_t req, fuse_ino_t ino)
{
	struct statvfs st = { .f_bsize = FS_BLOCK,
			      .f_frsize = FS_BLOCK,
			      .f_namemax = NAME_MAX_BYTES };

	(void)ino;
	fuse_reply_statfs(req, &st);
}
