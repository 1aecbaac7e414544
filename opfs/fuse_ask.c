/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/fuse_fs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/strbuf.h"

/* A first guess at how many groups a user is in; more are asked for once more. */
enum { FEW_GROUPS = 32 };

static int get_groups(fuse_req_t req, struct fs_viewer *who)
{
	int room = FEW_GROUPS, nr = 0;
	gid_t *groups = NULL;

	do {
		gid_t *more = realloc(groups, (size_t)room * sizeof(*groups));

		if (!more) {
			free(groups);
			return -ENOMEM;
		}
		groups = more;
		nr = fuse_req_getgroups(req, room, groups);
	} while (nr > room && (room = nr));
	/* a process of another PID namespace cannot be looked up: no groups then */
	who->groups = groups;
	who->v.groups = groups;
	who->v.nr_groups = nr > 0 ? (size_t)nr : 0;
	return 0;
}

int fs_viewer_init(struct fuse_fs *fs, fuse_req_t req, struct fs_viewer *out)
{
	const struct fuse_ctx *ctx = fuse_req_ctx(req);
	struct strbuf id = { 0 };
	int rc = 0;

	*out = (struct fs_viewer){ .v = { .uid = ctx->uid, .gid = ctx->gid } };
	if (!fs->shared)
		return 0;
	strbuf_add(&id, &out->v.uid, sizeof(out->v.uid));
	if (out->v.uid) {
		rc = get_groups(req, out);
		strbuf_add(&id, &out->v.gid, sizeof(out->v.gid));
		strbuf_add(&id, out->groups, out->v.nr_groups * sizeof(*out->groups));
	}
	if (!rc)
		rc = strbuf_error(&id);
	if (!rc)
		out->key = map_hash(id.data, id.len) | 1;
	strbuf_fini(&id);
	if (rc)
		fs_viewer_fini(out);
	return rc;
}

void fs_viewer_fini(struct fs_viewer *who)
{
	free(who->groups);
	*who = (struct fs_viewer){ 0 };
}

void fs_work_init(struct fs_work *work, struct fuse_fs *fs, struct fs_viewer *who,
		  struct node *node)
{
	work->fs = fs;
	work->who = TAKE(*who);
	work->node = node;
}

void fs_work_fini(struct fs_work *work)
{
	fs_viewer_fini(&work->who);
	node_put(&work->fs->nodes, work->node);
}

/*
 * In the thread that received the interrupt, with the request locked by libfuse, which
 * keeps it alive until this returns.
 */
static void interrupted(fuse_req_t req, void *data)
{
	struct fs_waiter *w = data;

	if (!fs_gives_up(fuse_req_ctx(req)->pid) || !worker_leave(w->fs->pool, &w->w))
		return;
	free(w);
	fuse_reply_err(req, EINTR);
}

fuse_req_t fs_waiter_take(struct fs_waiter *w)
{
	fuse_req_t req = w->req;

	/* waits for interrupted(), if that is under way */
	fuse_req_interrupt_func(req, NULL, NULL);
	free(w);
	return req;
}

static void make_key(struct strbuf *out, const struct fs_key *key,
		     const struct fs_viewer *who)
{
	strbuf_putc(out, key->op);
	strbuf_add(out, &key->id, sizeof(key->id));
	strbuf_add(out, &who->v.uid, sizeof(who->v.uid));
	strbuf_add(out, &who->key, sizeof(who->key));
	if (key->name)
		strbuf_puts(out, key->name);
}

void fs_ask(struct fuse_fs *fs, fuse_req_t req, const struct job_ops *ops,
	    struct fs_work *work, const struct fs_key *key, const struct fs_waiter *wait)
{
	CLEANUP(strbuf_fini) struct strbuf id = { 0 };
	struct fs_waiter *w = malloc(sizeof(*w));
	int rc;

	make_key(&id, key, &work->who);
	if (!w || strbuf_error(&id)) {
		free(w);
		ops->free(work);
		fuse_reply_err(req, ENOMEM);
		return;
	}
	*w = *wait;
	w->w = (struct waiter){ 0 };
	w->fs = fs;
	w->req = req;
	/* before it is handed in: afterwards it may be answered at any moment */
	fuse_req_interrupt_func(req, interrupted, w);
	rc = worker_ask(fs->pool, ops, work, id.data, id.len, &w->w);
	if (rc)
		fuse_reply_err(fs_waiter_take(w), rc == -ESHUTDOWN ? ENOTCONN : -rc);
}

int fs_errno(int rc)
{
	return rc < 0 && rc > -4096 ? -rc : EIO;
}
