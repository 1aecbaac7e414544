/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/fuse_fs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"

static struct handle *handle_of(const struct fuse_file_info *fi)
{
	return (struct handle *)(uintptr_t)fi->fh;
}

/* The kernel may keep the names of what never changes, if all users see the same. */
static bool may_cache(const struct fuse_fs *fs, const struct place *p)
{
	return !fs->shared && fs_dir_timeout(fs, p) > FS_SHORT;
}

/* Is this still a directory?  What takes time to find out READDIR will find out. */
static int check_dir(struct fuse_fs *fs, fuse_req_t req, struct node *n,
		     struct fuse_file_info *fi)
{
	CLEANUP(fs_viewer_fini) struct fs_viewer who = { 0 };
	CLEANUP(node_place_fini) struct node_place *np = NULL;
	unsigned epoch;
	int rc;

	np = node_where(&fs->nodes, n, &epoch);
	if (!np)
		return -ESTALE;
	rc = fs_viewer_init(fs, req, &who);
	if (rc)
		return rc;
	if (n->viewers && n->viewers != who.key)
		return -ESTALE;
	if (tree_quick(fs->tree, &np->p, "", 0)) {
		node_place_put(TAKE(np));
		rc = fs_place(fs, n, &who.v, &np);
		if (rc)
			return rc;
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

	if (!rc) {
		h = handle_new_dir(&fs->handles, n);
		rc = h ? 0 : -ENOMEM;
	}
	if (rc) {
		fuse_reply_err(req, fs_errno(rc));
		node_put(&fs->nodes, n);
		return;
	}
	fi->fh = (uintptr_t)h;
	if (fuse_reply_open(req, fi))
		handle_put(&fs->handles, h);
}

/* The number that a lookup of the name will give, so that d_ino and st_ino agree. */
static uint64_t entry_ino(const struct fuse_fs *fs, const struct place *p, uint64_t dir,
			  const struct fs_viewer *who, const struct dir_entry *e)
{
	bool is_file = e->kind == PLACE_FILE;
	bool personal =
		fs->shared && (is_file || e->kind == PLACE_ENTRIES || fs_personal(fs, p));

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
	handle_set_list(&fs->handles, h, list);
	return 0;
}

static mode_t entry_type(enum place_kind kind)
{
	return kind == PLACE_FILE ? S_IFREG : kind == PLACE_LINK ? S_IFLNK : S_IFDIR;
}

/* As many entries as @size takes; the cookie of one is the number of those before it
 * and itself. */
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
		struct stat st = { .st_ino = e->ino, .st_mode = entry_type(e->kind) };

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
	struct readdir *r = calloc(1, sizeof(*r));
	struct node *n = node_get(&fs->nodes, h->node->id);

	if (!r || !n) {
		free(r);
		node_put(&fs->nodes, n);
		fuse_reply_err(req, r ? ESTALE : ENOMEM);
		return;
	}
	r->h = handle_get(&fs->handles, h);
	fs_work_init(&r->work, fs, who, n);
	fs_ask(fs, req, &readdir_ops, &r->work, &(struct fs_key){ .op = 'd', .id = h },
	       wait);
}

static bool is_quick(struct fuse_fs *fs, struct node *n)
{
	struct node_place *np;
	unsigned epoch;
	bool quick;

	np = node_where(&fs->nodes, n, &epoch);
	quick = np && tree_quick(fs->tree, &np->p, "", 0);
	node_place_put(np);
	return quick;
}

void fs_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		struct fuse_file_info *fi)
{
	CLEANUP(fs_viewer_fini) struct fs_viewer who = { 0 };
	struct fuse_fs *fs = fuse_req_userdata(req);
	struct handle *h = handle_of(fi);
	int rc = 0;

	(void)ino;
	if (!handle_list(&fs->handles, h)) {
		rc = fs_viewer_init(fs, req, &who);
		if (!rc && !is_quick(fs, h->node)) {
			readdir_ask(fs, req, h, &who,
				    &(struct fs_waiter){ .size = size, .off = off });
			return;
		}
		if (!rc)
			rc = make_list(fs, h, &who);
	}
	if (rc)
		fuse_reply_err(req, fs_errno(rc));
	else
		reply_entries(req, handle_list(&fs->handles, h), size, off);
}

void fs_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fuse_fs *fs = fuse_req_userdata(req);

	(void)ino;
	handle_put(&fs->handles, handle_of(fi));
	fuse_reply_err(req, 0);
}
