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
	int rc = fs_viewer_init(fs, req, &who);

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
	{ "user.opfs.comm", xattr_comm },       { "user.opfs.cmdline", xattr_cmdline },
	{ "user.opfs.cgroup", xattr_cgroup },
};
enum { NR_XATTRS = sizeof(xattrs) / sizeof(xattrs[0]) };

static int xattr_get(const struct fuse_fs *fs, int which, const struct place *p,
		     const struct fs_viewer *who, struct strbuf *out)
{
	return xattrs[which].get(p, tree_reader(fs->tree, &who->v), out);
}

/* Where a directory is: its newest place if that is quick to find.  NULL: it is none. */
static struct node_place *dir_place(struct fuse_fs *fs, fuse_ino_t ino,
				    const struct viewer *v)
{
	struct node *n = node_get(&fs->nodes, ino);
	struct node_place *np = NULL, *newer;
	unsigned epoch;

	if (n && S_ISDIR(node_attr_of(&fs->nodes, n).mode)) {
		np = node_where(&fs->nodes, n, &epoch);
		if (np && !fs_place(fs, n, v, &newer)) {
			node_place_put(np);
			np = newer;
		}
	}
	node_put(&fs->nodes, n);
	return np;
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

/* A directory's place for whoever asks; -ENODATA: it is none. */
static int xattr_place(struct fuse_fs *fs, fuse_req_t req, fuse_ino_t ino,
		       struct fs_viewer *who, struct node_place **out)
{
	int rc = fs_viewer_init(fs, req, who);

	if (rc)
		return rc;
	*out = dir_place(fs, ino, &who->v);
	return *out ? 0 : -ENODATA;
}

void fs_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
	CLEANUP(node_place_fini) struct node_place *np = NULL;
	CLEANUP(fs_viewer_fini) struct fs_viewer who = { 0 };
	CLEANUP(strbuf_fini) struct strbuf value = { 0 };
	struct fuse_fs *fs = fuse_req_userdata(req);
	int which = 0, rc = -ENODATA;

	while (which < NR_XATTRS && strcmp(name, xattrs[which].name) != 0)
		which++;
	if (which < NR_XATTRS)
		rc = xattr_place(fs, req, ino, &who, &np);
	rc = rc ? rc : xattr_get(fs, which, &np->p, &who, &value);
	rc = rc ? rc : strbuf_error(&value);
	if (rc)
		fuse_reply_err(req, fs_errno(rc));
	else
		reply_xattr(req, strbuf_str(&value), value.len, size);
}

/* Only attributes that have a value: programs that copy them fail on others. */
void fs_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size)
{
	CLEANUP(node_place_fini) struct node_place *np = NULL;
	CLEANUP(fs_viewer_fini) struct fs_viewer who = { 0 };
	struct fuse_fs *fs = fuse_req_userdata(req);
	CLEANUP(strbuf_fini) struct strbuf list = { 0 };
	CLEANUP(strbuf_fini) struct strbuf value = { 0 };
	int rc = xattr_place(fs, req, ino, &who, &np);

	for (int i = 0; i < NR_XATTRS && !rc; i++)
		if (!xattr_get(fs, i, &np->p, &who, &value))
			strbuf_add(&list, xattrs[i].name, strlen(xattrs[i].name) + 1);
	if (strbuf_error(&list))
		fuse_reply_err(req, ENOMEM);
	else
		reply_xattr(req, strbuf_str(&list), list.len, size);
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
