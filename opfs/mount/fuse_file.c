/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/mount/fuse_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "opfs/mount/fuse_fs.h"
#include "opfs/mount/fuse_request.h"
#include "opfs/mount/statx.h"

/* Answers OPEN with a text, which is taken over. */
static void reply_handle(struct fuse_fs *fs, fuse_req_t req, struct node *n,
			 struct text *text, struct fuse_file_info *fi)
{
	struct handle *h;
	int rc = fs_handle_new(fs, req, n, text, &h);

	if (rc) {
		text_put(text);
		fuse_reply_err(req, fs_errno(rc));
		return;
	}
	fi->fh = (uintptr_t)h;
	/* the text of a node never changes */
	fi->keep_cache = 1;
	if (fuse_reply_open(req, fi))
		handle_put(&fs->handles, h);
}

/* A file's text, made for OPEN, and for GETATTR to know its size. */
struct text_work {
	struct fs_work work; /* first */
	struct text *text;
	uint64_t digest;
};

/*
 * The text of a node whose place was dropped: somebody has made it meanwhile.  If it is
 * not there, or does not hold any more, the next lookup must give another node: the
 * kernel looks the name up again after ESTALE.
 */
static int text_made(struct text_work *x)
{
	struct node_table *nodes = &x->work.fs->nodes;

	x->text = node_text(nodes, x->work.node);
	if (x->text && tree_text_is_good(x->work.fs->tree, x->text)) {
		x->digest = fs_digest(x->text);
		return 0;
	}
	node_unname(nodes, x->work.node);
	return -ESTALE;
}

static int text_run(void *arg, const atomic_bool *cancel)
{
	struct text_work *x = arg;
	struct node_place *np;
	struct err err = { 0 };
	unsigned epoch;
	int rc;

	x->work.who.v.cancel = cancel;
	np = node_where(&x->work.fs->nodes, x->work.node, &epoch);
	if (!np)
		return text_made(x);
	rc = tree_text(x->work.fs->tree, &np->p, &x->work.who.v, &x->text, &err);
	node_place_put(np);
	if (rc)
		return rc;
	x->digest = fs_digest(x->text);
	return 0;
}

/*
 * A text that differs from the one whose size the kernel was told is another file: after
 * ESTALE the kernel looks the name up again, and gets another node.
 */
static void text_reply(void *arg, int rc, struct waiter *waiter)
{
	struct text_work *x = arg;
	struct fs_waiter *w = (struct fs_waiter *)waiter;
	struct fuse_fs *fs = x->work.fs;
	struct fuse_file_info fi = w->fi;
	bool opens = w->open;
	fuse_req_t req = fs_waiter_take(w);

	if (!rc)
		rc = node_set_text(&fs->nodes, x->work.node, x->text, x->digest);
	if (rc)
		fuse_reply_err(req, fs_errno(rc));
	else if (opens)
		reply_handle(fs, req, x->work.node, text_get(x->text), &fi);
	else
		fs_reply_attr(fs, req, x->work.node, NULL);
}

static void text_free(void *arg)
{
	struct text_work *x = arg;

	text_put(x->text);
	fs_work_fini(&x->work);
	free(x);
}

static const struct job_ops text_ops = { text_run, text_reply, text_free };

/* Takes over @n and @who. */
static void text_ask(struct fuse_fs *fs, fuse_req_t req, struct node *n,
		     struct fs_viewer *who, const struct fs_waiter *wait)
{
	struct text_work *x = fs_work_new(sizeof(*x), fs, req, who, n);

	if (x)
		fs_ask(fs, req, &text_ops, &x->work,
		       &(struct fs_key){ .op = 't', .id = n }, wait);
}

void fs_getattr_file(struct fuse_fs *fs, fuse_req_t req, struct node *n)
{
	CLEANUP(fs_viewer_fini) struct fs_viewer who = { 0 };
	int rc = fs_viewer_of(fs, req, n, &who);

	rc = rc ? rc : fs_may_see(fs, n, &who.v);
	if (!rc && !statx_wants_no_size(fuse_req_ctx(req)->pid)) {
		text_ask(fs, req, n, &who, &(struct fs_waiter){ 0 });
		return;
	}
	if (rc)
		fuse_reply_err(req, fs_errno(rc));
	else
		fs_reply_attr(fs, req, n, NULL);
	node_put(&fs->nodes, n);
}

/* @text, which is taken over, or NULL: it is to be made anew. */
static struct text *good_text(struct fuse_fs *fs, struct text *text)
{
	if (!text || tree_text_is_good(fs->tree, text))
		return text;
	text_put(text);
	return NULL;
}

void fs_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	CLEANUP(fs_viewer_fini) struct fs_viewer who = { 0 };
	struct fuse_fs *fs = fuse_req_userdata(req);
	struct node *n = node_get(&fs->nodes, ino);
	struct text *text;
	int rc = 0;

	if (!n)
		rc = -ESTALE;
	else if ((fi->flags & O_ACCMODE) != O_RDONLY || fi->flags & O_TRUNC)
		rc = -EROFS;
	else
		rc = fs_viewer_of(fs, req, n, &who);
	rc = rc ? rc : fs_may_see(fs, n, &who.v);
	if (rc) {
		fuse_reply_err(req, fs_errno(rc));
		node_put(&fs->nodes, n);
		return;
	}
	text = good_text(fs, node_text(&fs->nodes, n));
	if (!text) /* it did not fit into the cache, but somebody has it open */
		text = good_text(fs, handle_text(&fs->handles, n));
	if (!text) {
		text_ask(fs, req, n, &who,
			 &(struct fs_waiter){ .fi = *fi, .open = true });
		return;
	}
	reply_handle(fs, req, n, text, fi);
	node_put(&fs->nodes, n);
}

/* A part of a text that is made piece by piece, of files that may be slow. */
struct read_work {
	struct fs_work work; /* first */
	struct text *text;   /* reference */
	off_t off;
	size_t size;
	char *data;
	ssize_t got;
};

static int read_run(void *arg, const atomic_bool *cancel)
{
	struct read_work *r = arg;

	r->data = malloc(r->size);
	r->got = r->data ? text_read_until(r->text, r->data, r->size, r->off, cancel)
			 : -ENOMEM;
	return r->got < 0 ? (int)r->got : 0;
}

static void read_reply(void *arg, int rc, struct waiter *w)
{
	struct read_work *r = arg;
	fuse_req_t req = fs_waiter_take((struct fs_waiter *)w);

	if (rc)
		fuse_reply_err(req, fs_errno(rc));
	else
		fuse_reply_buf(req, r->data, (size_t)r->got);
}

static void read_free(void *arg)
{
	struct read_work *r = arg;

	text_put(r->text);
	free(r->data);
	fs_work_fini(&r->work);
	free(r);
}

static const struct job_ops read_ops = { read_run, read_reply, read_free };

static void read_ask(struct fuse_fs *fs, fuse_req_t req, struct text *text, size_t size,
		     off_t off)
{
	CLEANUP(fs_viewer_fini)
	struct fs_viewer who = {
		.v.cred.uid = fuse_req_ctx(req)->uid, /* whose turn it is */
	};
	struct read_work *r = fs_work_new(sizeof(*r), fs, req, &who, NULL);
	char part[64];

	if (!r)
		return;
	r->text = text_get(text);
	r->off = off;
	r->size = size;
	snprintf(part, sizeof(part), "%lld+%zu", (long long)off, size);
	fs_ask(fs, req, &read_ops, &r->work,
	       &(struct fs_key){ .op = 'r', .id = text, .name = part },
	       &(struct fs_waiter){ 0 });
}

void fs_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
	     struct fuse_file_info *fi)
{
	struct text *text = fs_handle(fi)->text;
	struct fuse_bufvec buf = FUSE_BUFVEC_INIT(0);

	(void)ino;
	if (off < 0 || (size_t)off >= text->len) {
		fuse_reply_buf(req, NULL, 0);
		return;
	}
	if (size > text->len - (size_t)off)
		size = text->len - (size_t)off;
	if (text->source) {
		read_ask(fuse_req_userdata(req), req, text, size, off);
		return;
	}
	if (text->fd < 0) {
		fuse_reply_buf(req, text->data + off, size);
		return;
	}
	buf.buf[0] = (struct fuse_buf){ .size = size,
					.flags = FUSE_BUF_IS_FD | FUSE_BUF_FD_SEEK |
						 FUSE_BUF_FD_RETRY,
					.fd = text->fd,
					.pos = off };
	fuse_reply_data(req, &buf, 0);
}

void fs_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fuse_fs *fs = fuse_req_userdata(req);

	(void)ino;
	handle_put(&fs->handles, fs_handle(fi));
	fuse_reply_err(req, 0);
}
