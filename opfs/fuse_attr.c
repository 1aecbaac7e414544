/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/fuse_fs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"

enum { BLOCK = 4096, SECTOR = 512, NAME_MAX_BYTES = 1024 };
#define NS_PER_S 1000000000u

static const mode_t kind_mode[] = {
	[PLACE_ROOT] = S_IFDIR | 0555,   [PLACE_PROFILE] = S_IFDIR | 0555,
	[PLACE_VALUES] = S_IFDIR | 0555, [PLACE_PREFIX] = S_IFDIR | 0555,
	[PLACE_FILE] = S_IFREG | 0444,   [PLACE_LINK] = S_IFLNK | 0777,
	[PLACE_MORE] = S_IFDIR | 0555,   [PLACE_ENTRIES] = S_IFDIR | 0555,
	[PLACE_EVENTS] = S_IFDIR | 0555,
};

int fs_attr(struct fuse_fs *fs, const struct place *p, uint64_t ino,
	    struct node_attr *out)
{
	mode_t mode = 0555;
	int rc;

	*out = (struct node_attr){ .ino = ino, .mtime_ns = tree_mtime_ns(p) };
	rc = tree_mode(fs->tree, p, &mode, &out->uid, &out->gid);
	if (rc)
		return rc;
	out->mode = kind_mode[p->kind];
	if (p->kind == PLACE_LINK)
		out->size = p->target ? strlen(p->target) : 0;
	else
		out->mode &= S_IFMT | mode;
	if (S_ISDIR(out->mode))
		out->size = tree_samples(p);
	return 0;
}

uint64_t fs_ino(uint64_t parent, const char *name, size_t len, const struct place *file,
		uint64_t viewers)
{
	uint64_t id[4] = { parent, map_hash(name, len), 0, viewers };

	if (file)
		id[2] = place_generation(file);
	/* 0 is no number, 1 the root's */
	return map_hash(id, sizeof(id)) | 2;
}

void fs_stat(const struct node_attr *attr, struct stat *out)
{
	struct timespec when = { .tv_sec = (time_t)(attr->mtime_ns / NS_PER_S),
				 .tv_nsec = (long)(attr->mtime_ns % NS_PER_S) };

	*out = (struct stat){
		.st_ino = attr->ino,
		.st_mode = attr->mode,
		.st_nlink = S_ISDIR(attr->mode) ? 2 : 1,
		.st_uid = attr->uid,
		.st_gid = attr->gid,
		.st_size = attr->size > INT64_MAX ? INT64_MAX : (off_t)attr->size,
		.st_blksize = BLOCK,
		.st_atim = when,
		.st_mtim = when,
		.st_ctim = when,
	};
	if (S_ISREG(attr->mode))
		out->st_blocks = (out->st_size + SECTOR - 1) / SECTOR;
}

uint64_t fs_digest(const struct text *text)
{
	struct stat st;

	if (text->source) /* as good as its address: what it shows does not change */
		return map_hash(&text, sizeof(text));
	if (text->fd < 0)
		return map_hash(text->data, text->len);
	/* in a file of its own, which lives as long as the text */
	if (fstat(text->fd, &st))
		return map_hash(&text, sizeof(text));
	return map_hash(&st.st_ino, sizeof(st.st_ino));
}

bool fs_personal(const struct fuse_fs *fs, const struct place *p)
{
	if (!fs->shared)
		return false;
	if (p->base && fs_personal(fs, &p->base->p))
		return true;
	return p->kind == PLACE_FILE || p->kind == PLACE_ENTRIES ||
	       p->tag == &spec_tags[SPEC_SYMBOL] ||
	       (p->spec && p->spec->values[SPEC_SYMBOL]);
}

double fs_dir_timeout(const struct fuse_fs *fs, const struct place *p)
{
	/* what binaries tell gets better when others are installed */
	if (p->kind == PLACE_ENTRIES || p->tag == &spec_tags[SPEC_SYMBOL])
		return FS_SHORT;
	return place_saved(p) && fs->watched && !(p->base && p->base->dir) ? FS_LONG
									   : FS_SHORT;
}

/* The place of a directory in a newer generation takes the node along. */
static int move(struct fuse_fs *fs, struct node *n, struct place *to, unsigned epoch,
		struct node_place **np)
{
	struct node_attr was = node_attr_of(&fs->nodes, n), attr;
	struct node_place *fresh;
	int rc = fs_attr(fs, to, was.ino, &attr);

	if (rc) {
		place_fini(to);
		return rc;
	}
	fresh = node_place_new(to);
	if (!fresh)
		return -ENOMEM;
	node_place_put(*np);
	*np = node_place_get(fresh);
	node_moved(&fs->nodes, n, fresh, &attr, epoch);
	return 0;
}

/* True if what was found earlier holds still, without looking. */
static bool settled(const struct fuse_fs *fs, const struct place *p, unsigned then,
		    unsigned now)
{
	if (p->kind == PLACE_FILE || p->kind == PLACE_LINK)
		return true;
	return fs_dir_timeout(fs, p) > FS_SHORT && then == now;
}

static bool same_places(const struct place *a, const struct place *b)
{
	if (!a->cat || a->cat != b->cat)
		return false;
	return a->base == b->base ||
	       (a->base && b->base && a->base->p.cat == b->base->p.cat);
}

int fs_place(struct fuse_fs *fs, struct node *n, const struct viewer *v,
	     struct node_place **out)
{
	CLEANUP(node_place_fini) struct node_place *np = NULL;
	unsigned now = atomic_load(&fs->epoch), then;
	struct place fresh;
	struct err err = { 0 };
	int rc;

	np = node_where(&fs->nodes, n, &then);
	if (!np)
		return -ESTALE;
	if (!settled(fs, &np->p, then, now)) {
		rc = place_copy(&np->p, &fresh);
		if (rc)
			return rc;
		rc = tree_refresh(fs->tree, &fresh, v, &err);
		if (rc) {
			place_fini(&fresh);
			return rc == -ENOENT ? -ESTALE : rc;
		}
		if (same_places(&fresh, &np->p) && then == now)
			place_fini(&fresh);
		else
			rc = move(fs, n, &fresh, now, &np);
		if (rc)
			return rc;
	}
	*out = TAKE(np);
	return 0;
}

void fs_reply_attr(struct fuse_fs *fs, fuse_req_t req, struct node *n,
		   const struct place *p)
{
	struct node_attr attr = node_attr_of(&fs->nodes, n);
	struct stat st;

	fs_stat(&attr, &st);
	/* what a file shows is fixed: another content is another node */
	fuse_reply_attr(req, &st, S_ISDIR(attr.mode) ? fs_dir_timeout(fs, p) : FS_LONG);
}

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
	struct fs_work *work = calloc(1, sizeof(*work));

	if (!work) {
		node_put(&fs->nodes, n);
		fuse_reply_err(req, ENOMEM);
		return;
	}
	fs_work_init(work, fs, who, n);
	fs_ask(fs, req, &getattr_ops, work, &(struct fs_key){ .op = 'a', .id = n },
	       &(struct fs_waiter){ 0 });
}

/* A directory, which may have moved on.  Takes over @n. */
static void getattr_dir(struct fuse_fs *fs, fuse_req_t req, struct node *n)
{
	CLEANUP(fs_viewer_fini) struct fs_viewer who = { 0 };
	struct node_place *np;
	unsigned epoch;
	int rc = fs_viewer_init(fs, req, &who);

	np = rc ? NULL : node_where(&fs->nodes, n, &epoch);
	if (np && !settled(fs, &np->p, epoch, atomic_load(&fs->epoch)) &&
	    !tree_quick(fs->tree, &np->p, "", 0)) {
		node_place_put(np);
		getattr_ask(fs, req, n, &who);
		return;
	}
	node_place_put(np);
	if (!rc)
		rc = fs_place(fs, n, &who.v, &np);
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

static int xattr_samples(const struct place *p, struct strbuf *out)
{
	strbuf_printf(out, "%llu", (unsigned long long)tree_samples(p));
	return 0;
}

static int xattr_percent(const struct place *p, struct strbuf *out)
{
	uint64_t all = tree_session_samples(p);

	if (!all)
		return -ENODATA;
	strbuf_printf(out, "%.4f", 100.0 * (double)tree_samples(p) / (double)all);
	return 0;
}

static int add_known(const char *text, struct strbuf *out)
{
	if (!text)
		return -ENODATA;
	strbuf_puts(out, text);
	return 0;
}

static int xattr_comm(const struct place *p, struct strbuf *out)
{
	const struct spec_task *task = tree_task(p);

	return add_known(task ? task->comm : NULL, out);
}

static int xattr_cmdline(const struct place *p, struct strbuf *out)
{
	const struct spec_task *task = tree_task(p);

	return add_known(task ? task->cmdline : NULL, out);
}

static int xattr_cgroup(const struct place *p, struct strbuf *out)
{
	const struct spec_task *task = tree_task(p);

	return add_known(task ? task->cgroup : NULL, out);
}

/* Extended attributes of directories. */
static const struct {
	const char *name;
	int (*get)(const struct place *p, struct strbuf *out); /* 0 or -errno */
} xattrs[] = {
	{ "user.opfs.samples", xattr_samples }, { "user.opfs.percent", xattr_percent },
	{ "user.opfs.comm", xattr_comm },       { "user.opfs.cmdline", xattr_cmdline },
	{ "user.opfs.cgroup", xattr_cgroup },
};
enum { NR_XATTRS = sizeof(xattrs) / sizeof(xattrs[0]) };

/* Where a directory is, moved on if that is quick.  NULL: no directory any more. */
static struct node_place *dir_place(struct fuse_fs *fs, fuse_ino_t ino,
				    const struct viewer *v)
{
	struct node *n = node_get(&fs->nodes, ino);
	struct node_place *np = NULL, *newer;
	unsigned epoch;

	if (n && S_ISDIR(node_attr_of(&fs->nodes, n).mode)) {
		np = node_where(&fs->nodes, n, &epoch);
		if (np && tree_quick(fs->tree, &np->p, "", 0) &&
		    !fs_place(fs, n, v, &newer)) {
			node_place_put(np);
			np = newer;
		}
	}
	node_put(&fs->nodes, n);
	return np;
}

/* Answers an attribute's value or the list of names by the rules of @size. */
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
		       struct node_place **out)
{
	CLEANUP(fs_viewer_fini) struct fs_viewer who = { 0 };
	int rc = fs_viewer_init(fs, req, &who);

	if (rc)
		return rc;
	*out = dir_place(fs, ino, &who.v);
	return *out ? 0 : -ENODATA;
}

void fs_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
	CLEANUP(node_place_fini) struct node_place *np = NULL;
	CLEANUP(strbuf_fini) struct strbuf value = { 0 };
	struct fuse_fs *fs = fuse_req_userdata(req);
	int which = 0, rc = -ENODATA;

	while (which < NR_XATTRS && strcmp(name, xattrs[which].name) != 0)
		which++;
	if (which < NR_XATTRS)
		rc = xattr_place(fs, req, ino, &np);
	rc = rc ? rc : xattrs[which].get(&np->p, &value);
	rc = rc ? rc : strbuf_error(&value);
	if (rc)
		fuse_reply_err(req, fs_errno(rc));
	else
		reply_xattr(req, strbuf_str(&value), value.len, size);
}

/* Only what has a value: who copies attributes wants all that are listed. */
void fs_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size)
{
	CLEANUP(node_place_fini) struct node_place *np = NULL;
	struct fuse_fs *fs = fuse_req_userdata(req);
	CLEANUP(strbuf_fini) struct strbuf list = { 0 };
	CLEANUP(strbuf_fini) struct strbuf value = { 0 };
	int rc = xattr_place(fs, req, ino, &np);

	for (int i = 0; i < NR_XATTRS && !rc; i++)
		if (!xattrs[i].get(&np->p, &value))
			strbuf_add(&list, xattrs[i].name, strlen(xattrs[i].name) + 1);
	if (strbuf_error(&list))
		fuse_reply_err(req, ENOMEM);
	else
		reply_xattr(req, strbuf_str(&list), list.len, size);
}

/* Nothing here takes up a disk: no blocks, as in /proc, so that df passes over it. */
void fs_statfs(fuse_req_t req, fuse_ino_t ino)
{
	struct statvfs st = { .f_bsize = BLOCK,
			      .f_frsize = BLOCK,
			      .f_namemax = NAME_MAX_BYTES };

	(void)ino;
	fuse_reply_statfs(req, &st);
}
