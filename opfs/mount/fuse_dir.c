/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/mount/fuse_dir.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "opfs/mount/fuse_fs.h"
#include "opfs/mount/fuse_request.h"

/* The kernel may cache a listing that never changes and is the same for all users. */
static bool may_cache(const struct fuse_fs *fs, const struct place *p)
{
	return !fs->shared && fs_dir_timeout(fs, p) > FS_SHORT;
}

/* Is this still a directory?  If that takes time to find out, READDIR will. */
static int check_dir(struct fuse_fs *fs, fuse_req_t req, struct node *n,
		     struct fuse_file_info *fi)
{
	CLEANUP(fs_viewer_fini) struct fs_viewer who = { 0 };
	CLEANUP(node_place_fini) struct node_place *np = NULL;
	struct node_place *newest;
	unsigned epoch;
	int rc;

	rc = fs_viewer_of(fs, req, n, &who);
	if (rc)
		return rc;
	np = node_where(&fs->nodes, n, &epoch);
	if (!np)
		return 0;
	rc = fs_place(fs, n, &who.v, &newest);
	if (rc && rc != -EAGAIN)
		return rc;
	if (!rc) {
		node_place_put(np);
		np = newest;
	}
	fi->cache_readdir = may_cache(fs, &np->p);
	fi->keep_cache = fi->cache_readdir && epoch == atomic_load(&fs->epoch);
	return 0;
}

void fs_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fuse_fs *fs = fuse_req_userdata(req);
	struct node *n = node_get(&fs->nodes, ino);
	struct handle *h = NULL;
	int rc = n ? check_dir(fs, req, n, fi) : -ESTALE;

	if (!rc)
		rc = fs_handle_new(fs, req, n, NULL, &h);
	node_put(&fs->nodes, n);
	if (rc) {
		fuse_reply_err(req, fs_errno(rc));
		return;
	}
	fi->fh = (uintptr_t)h;
	if (fuse_reply_open(req, fi))
		handle_put(&fs->handles, h);
}

/* The inode number that a lookup of the name will give: d_ino and st_ino agree. */
static uint64_t entry_ino(const struct fuse_fs *fs, const struct place *p, uint64_t dir,
			  const struct fs_viewer *who, const struct dir_entry *e)
{
	bool is_file = S_ISREG(place_kinds[e->kind].mode);
	size_t len = strlen(e->name);
	bool personal =
		fs->shared && (is_file || e->kind == PLACE_ENTRIES || fs_differs(fs, p) ||
			       tree_hint(p, e->name, len).personal);

	return fs_ino(dir, e->name, strlen(e->name), is_file ? p : NULL,
		      personal ? who->key : 0);
}

static int make_list(struct fuse_fs *fs, struct handle *h, const struct fs_viewer *who)
{
	CLEANUP(node_place_fini) struct node_place *np = NULL;
	struct dir_list *list;
	struct err err = { 0 };
	uint64_t ino;
	int rc;

	rc = fs_place(fs, h->node, &who->v, &np);
	if (!rc)
		rc = dir_list_new(fs->tree, &np->p, &who->v, &list, &err);
	if (rc)
		return rc;
	ino = node_attr_of(&fs->nodes, h->node).ino;
	vec_for(&list->entries, e)
		e->ino = entry_ino(fs, &np->p, ino, who, e);
	list->entries.data[0].ino = ino;
	if (h->node->parent)
		ino = node_attr_of(&fs->nodes, h->node->parent).ino;
	list->entries.data[1].ino = ino;
	rc = handle_set_list(&fs->handles, h, list);
	return fs_tell_full(fs, h->uid, rc);
}

/* As many entries as @size takes; the cookie of an entry is the index of the next. */
static void reply_entries(fuse_req_t req, const struct dir_list *list, size_t size,
			  off_t off)
{
	char *buf = malloc(size ? size : 1);
	size_t used = 0, room;

	if (!buf) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	for (size_t i = (size_t)off; off >= 0 && i < list->entries.len; i++) {
		const struct dir_entry *e = &list->entries.data[i];
		struct stat st = { .st_ino = e->ino,
				   .st_mode = place_kinds[e->kind].mode };

		room = fuse_add_direntry(req, buf + used, size - used, e->name, &st,
					 (off_t)i + 1);
		if (room > size - used)
			break;
		used += room;
	}
	fuse_reply_buf(req, buf, used);
	free(buf);
}

struct readdir {
	struct fs_work work; /* first */
	struct handle *h;    /* reference: it may be closed before this is done */
};

static int readdir_run(void *arg, const atomic_bool *cancel)
{
	struct readdir *r = arg;

	r->work.who.v.cancel = cancel;
	return make_list(r->work.fs, r->h, &r->work.who);
}

static void readdir_reply(void *arg, int rc, struct waiter *w)
{
	struct readdir *r = arg;
	size_t size = ((struct fs_waiter *)w)->size;
	off_t off = ((struct fs_waiter *)w)->off;
	fuse_req_t req = fs_waiter_take((struct fs_waiter *)w);

	if (rc)
		fuse_reply_err(req, fs_errno(rc));
	else
		reply_entries(req, handle_list(&r->work.fs->handles, r->h), size, off);
}

static void readdir_free(void *arg)
{
	struct readdir *r = arg;

	handle_put(&r->work.fs->handles, r->h);
	fs_work_fini(&r->work);
	free(r);
}

static const struct job_ops readdir_ops = { readdir_run, readdir_reply, readdir_free };

/* Takes over @who. */
static void readdir_ask(struct fuse_fs *fs, fuse_req_t req, struct handle *h,
			struct fs_viewer *who, const struct fs_waiter *wait)
{
	struct node *n = node_get(&fs->nodes, h->node->id);
	struct readdir *r;

	if (!n) {
		fuse_reply_err(req, ESTALE);
		return;
	}
	r = fs_work_new(sizeof(*r), fs, req, who, n);
	if (!r)
		return;
	r->h = handle_get(&fs->handles, h);
	fs_ask(fs, req, &readdir_ops, &r->work, &(struct fs_key){ .op = 'd', .id = h },
	       wait);
}

void fs_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		struct fuse_file_info *fi)
{
	CLEANUP(fs_viewer_fini) struct fs_viewer who = { 0 };
	struct fuse_fs *fs = fuse_req_userdata(req);
	struct handle *h = fs_handle(fi);
	int rc = 0;

	(void)ino;
	if (!handle_list(&fs->handles, h)) {
		rc = fs_viewer_init(fs, req, &who);
		if (!rc)
			rc = make_list(fs, h, &who);
		if (rc == -EAGAIN) {
			readdir_ask(fs, req, h, &who,
				    &(struct fs_waiter){ .size = size, .off = off });
			return;
		}
	}
	if (rc)
		fuse_reply_err(req, fs_errno(rc));
	else
		reply_entries(req, handle_list(&fs->handles, h), size, off);
}
