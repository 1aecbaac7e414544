/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/mount/fuse_request.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/strbuf.h"

#define BIT(signal) (1ull << ((signal)-1))
/* A first guess at how many groups a user is in. */
enum { FEW_GROUPS = 32 };

/* Does /proc number processes as requests do?  In a PID namespace that was left another
 * one's /proc it does not: it would tell of somebody else. */
static bool proc_is_ours(void)
{
	char self[32] = "";

	return readlink("/proc/self", self, sizeof(self) - 1) > 0 &&
	       strtol(self, NULL, 10) == getpid();
}

static int get_groups(fuse_req_t req, struct cred *who)
{
	int room = FEW_GROUPS, nr = 0;
	gid_t *groups = NULL;

	if (!proc_is_ours())
		return 0;
	do {
		gid_t *more = realloc(groups, (size_t)room * sizeof(*groups));

		if (!more) {
			free(groups);
			return -ENOMEM;
		}
		groups = more;
		nr = fuse_req_getgroups(req, room, groups);
	} while (nr > room && (room = nr));
	who->groups = groups;
	/* a process of another PID namespace cannot be looked up: no groups then */
	who->nr_groups = nr > 0 ? (size_t)nr : 0;
	return 0;
}

int fs_viewer_init(struct fuse_fs *fs, fuse_req_t req, struct fs_viewer *out)
{
	CLEANUP(strbuf_fini) struct strbuf id = { 0 };
	const struct fuse_ctx *ctx = fuse_req_ctx(req);
	struct cred *who = &out->v.cred;
	int rc = 0;

	*out = (struct fs_viewer){ .v.cred = { .uid = ctx->uid, .gid = ctx->gid },
				   .v.quick = true };
	if (!fs->shared)
		return 0;
	strbuf_add(&id, &who->uid, sizeof(who->uid));
	if (who->uid) {
		rc = get_groups(req, who);
		strbuf_add(&id, &who->gid, sizeof(who->gid));
		strbuf_add(&id, who->groups, who->nr_groups * sizeof(*who->groups));
	}
	if (!rc)
		rc = strbuf_error(&id);
	if (!rc)
		out->key = map_hash(id.data, id.len) | 1;
	else
		fs_viewer_fini(out);
	return rc;
}

int fs_viewer_of(struct fuse_fs *fs, fuse_req_t req, const struct node *n,
		 struct fs_viewer *out)
{
	int rc = fs_viewer_init(fs, req, out);

	return !rc && n->viewers && n->viewers != out->key ? -ESTALE : rc;
}

void fs_viewer_fini(struct fs_viewer *who)
{
	free((gid_t *)who->v.cred.groups);
	*who = (struct fs_viewer){ 0 };
}

int fs_tell_full(struct fuse_fs *fs, uid_t uid, int rc)
{
	if (rc == -ENFILE)
		tree_tell(fs->tree, uid,
			  "what you have open or looked up here is all that others leave "
			  "for you: close files (or mount with a larger held=SIZE)");
	return rc;
}

int fs_handle_new(struct fuse_fs *fs, fuse_req_t req, struct node *n, struct text *text,
		  struct handle **out)
{
	uid_t uid = fuse_req_ctx(req)->uid;
	struct node *mine = node_get(&fs->nodes, n->id);
	int rc = mine ? handle_new(&fs->handles, mine, text, uid, out) : -ESTALE;

	if (rc)
		node_put(&fs->nodes, mine);
	return fs_tell_full(fs, uid, rc);
}

void *fs_work_new(size_t size, struct fuse_fs *fs, fuse_req_t req, struct fs_viewer *who,
		  struct node *node)
{
	struct fs_work *work = calloc(1, size);

	if (!work) {
		node_put(&fs->nodes, node);
		fuse_reply_err(req, ENOMEM);
		return NULL;
	}
	work->fs = fs;
	work->who = TAKE(*who);
	work->who.v.quick = false;
	work->node = node;
	return work;
}

void fs_work_fini(struct fs_work *work)
{
	fs_viewer_fini(&work->who);
	node_put(&work->fs->nodes, work->node);
}

/* ---- interrupts */

/*
 * Signals that programs handle and then continue: a child ends, a window changes, the
 * timer of a profiler or runtime.  They must not make stat() fail, which hardly any
 * program retries after EINTR.
 */
static const unsigned long long harmless =
	BIT(SIGCHLD) | BIT(SIGWINCH) | BIT(SIGURG) | BIT(SIGPROF) | BIT(SIGVTALRM) |
	BIT(SIGIO) | BIT(SIGCONT) | BIT(SIGTSTP) | BIT(SIGTTIN) | BIT(SIGTTOU);

/* A line "NAME:\tHEX" of /proc/TID/status; 0 if it is not there. */
static unsigned long long mask(const char *status, const char *name)
{
	const char *at = strstr(status, name);

	return at ? strtoull(at + strlen(name), NULL, 16) : 0;
}

/*
 * Is the signal that interrupted thread @tid to end what it waits for?  The kernel says
 * once that a thread was interrupted, and not by which signal.  One that ends a process
 * shows as SIGKILL in all its threads.  True if it cannot be found out.
 */
static bool gives_up(pid_t tid)
{
	CLEANUP(close_fd) int fd = -1;
	char path[64], status[4096];
	unsigned long long pending;
	ssize_t len;

	if (tid <= 0)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	len = fd < 0 ? -1 : read(fd, status, sizeof(status) - 1);
	if (len <= 0)
		return true;
	status[len] = '\0';
	pending = mask(status, "\nSigPnd:\t") | mask(status, "\nShdPnd:\t");
	pending &= ~mask(status, "\nSigBlk:\t") & ~mask(status, "\nSigIgn:\t");
	return pending & ~harmless;
}

/*
 * In the thread that received the interrupt, with the request locked by libfuse, which
 * keeps it alive until this returns.
 */
static void interrupted(fuse_req_t req, void *data)
{
	struct fs_waiter *w = data;

	if (!gives_up(fuse_req_ctx(req)->pid) || !worker_leave(w->fs->pool, &w->w))
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
	strbuf_add(out, &who->v.cred.uid, sizeof(who->v.cred.uid));
	strbuf_add(out, &who->key, sizeof(who->key));
	if (key->name)
		strbuf_puts(out, key->name);
}

void fs_ask(struct fuse_fs *fs, fuse_req_t req, const struct job_ops *ops,
	    struct fs_work *work, const struct fs_key *key, const struct fs_waiter *wait)
{
	CLEANUP(strbuf_fini) struct strbuf id = { 0 };
	struct fs_waiter *w = malloc(sizeof(*w));
	struct job_key k = { .uid = work->who.v.cred.uid };
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
	/* before it is submitted: afterwards it may be answered at any moment */
	fuse_req_interrupt_func(req, interrupted, w);
	k.id = id.data;
	k.len = id.len;
	rc = worker_ask(fs->pool, ops, work, &k, &w->w);
	if (rc)
		fuse_reply_err(fs_waiter_take(w), rc == -ESHUTDOWN ? ENOTCONN : -rc);
}
