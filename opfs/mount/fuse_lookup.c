/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/mount/fuse_lookup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "opfs/mount/fuse_fs.h"
#include "opfs/mount/fuse_request.h"
#include "opfs/tree/access.h"

struct lookup {
	struct fs_work work; /* first */
	struct node_found found;
	struct text *text; /* owned */
	char name[];
};

static double entry_timeout(const struct fuse_fs *fs, const struct node_found *found)
{
	const struct place *p = &found->place;

	/* each user must look up what users see differently; the root's files change */
	if (found->personal || (place_is_file(p) && !p->cat))
		return 0;
	/* files of two generations must not appear side by side */
	if (place_is_file(p) && (p->cat->live || (p->base && p->base->p.cat->live)))
		return 0;
	return fs_dir_timeout(fs, p);
}

/* Answers that there is no such name, and for how long that holds. */
static void reply_none(struct fuse_fs *fs, fuse_req_t req, struct node *parent,
		       const char *name)
{
	struct fuse_entry_param none = { 0 };
	struct node_place *np;
	unsigned epoch;

	np = node_where(&fs->nodes, parent, &epoch);
	if (tree_is_probe(name, strlen(name)))
		none.entry_timeout = FS_LONG;
	else if (np && !fs->shared && epoch == atomic_load(&fs->epoch))
		none.entry_timeout = fs_dir_timeout(fs, &np->p);
	node_place_put(np);
	fuse_reply_entry(req, &none);
}

/* Answers with the node of what was found, which is taken over; @e has the timeouts of a
 * directory. */
static void reply_node(struct fuse_fs *fs, fuse_req_t req, struct node *parent,
		       const struct node_name *name, struct node_found *found,
		       struct fuse_entry_param *e)
{
	struct text *text = found->text;
	struct node_attr attr;
	int rc = node_enter(&fs->nodes, parent, name, found, &e->ino, &attr);

	text_put(text);
	if (rc) {
		fuse_reply_err(req, fs_errno(fs_tell_full(fs, name->uid, rc)));
		return;
	}
	if (S_ISREG(attr.mode))
		e->attr_timeout = attr.sized ? FS_LONG : 0;
	/* Sessions came or went since it was found, or were closed.  From here on, who
	 * tells the kernel of that finds the node. */
	if (found->epoch != atomic_load(&fs->epoch))
		e->entry_timeout = 0;
	fs_stat(&attr, &e->attr);
	if (fuse_reply_entry(req, e))
		node_forget(&fs->nodes, e->ino, 1);
}

/* Takes over what was found. */
static void reply_found(struct fuse_fs *fs, fuse_req_t req, struct node *parent,
			const struct node_name *name, struct node_found *found)
{
	struct node_name full = *name;
	struct fuse_entry_param e = {
		.generation = 1,
		.entry_timeout = entry_timeout(fs, found),
		.attr_timeout = fs_dir_timeout(fs, &found->place),
	};

	if (!found->personal)
		full.viewers = 0;
	reply_node(fs, req, parent, &full, found, &e);
}

static void reply_lookup(struct fuse_fs *fs, fuse_req_t req, struct node *parent,
			 const struct node_name *name, int rc, struct node_found *found)
{
	if (rc == -ENOENT)
		reply_none(fs, req, parent, name->name);
	else if (rc)
		fuse_reply_err(req, fs_errno(rc));
	else
		reply_found(fs, req, parent, name, found);
}

static struct node_name name_of(const struct lookup *l)
{
	return (struct node_name){ l->name, strlen(l->name), l->work.who.key,
				   l->work.who.v.cred.uid };
}

static int lookup_run(void *arg, const atomic_bool *cancel)
{
	struct lookup *l = arg;
	struct node_name name = name_of(l);

	l->work.who.v.cancel = cancel;
	fs_found_fini(&l->found);
	return fs_find(l->work.fs, l->work.node, &name, &l->work.who.v, &l->found);
}

static void lookup_reply(void *arg, int rc, struct waiter *w)
{
	struct lookup *l = arg;
	struct node_name name = name_of(l);
	fuse_req_t req = fs_waiter_take((struct fs_waiter *)w);
	struct node_found found = l->found;

	/* each waiter needs a place of its own */
	if (!rc)
		rc = place_copy(&l->found.place, &found.place);
	if (!rc && found.text)
		text_get(found.text);
	reply_lookup(l->work.fs, req, l->work.node, &name, rc, &found);
}

static void lookup_free(void *arg)
{
	struct lookup *l = arg;

	fs_found_fini(&l->found);
	fs_work_fini(&l->work);
	free(l);
}

static const struct job_ops lookup_ops = { lookup_run, lookup_reply, lookup_free };

/* Takes over @parent and @who. */
static void lookup_ask(struct fuse_fs *fs, fuse_req_t req, struct node *parent,
		       const char *name, struct fs_viewer *who)
{
	struct lookup *l =
		fs_work_new(sizeof(*l) + strlen(name) + 1, fs, req, who, parent);

	if (!l)
		return;
	memcpy(l->name, name, strlen(name) + 1);
	fs_ask(fs, req, &lookup_ops, &l->work,
	       &(struct fs_key){ .op = 'l', .id = parent, .name = name },
	       &(struct fs_waiter){ 0 });
}

/*
 * Until a LOOKUP is answered, the kernel makes all others wait that look up the same
 * name, even against signals, and, if somebody wants to create something there, all names
 * of the directory.  So where sessions or files outside have to be read, it is told that
 * there is a directory, which is looked for when it is used.  False: it cannot be a
 * directory only.
 */
static bool reply_later(struct fuse_fs *fs, fuse_req_t req, struct node *parent,
			const struct node_name *name)
{
	struct node_found found = { .later = true, .epoch = atomic_load(&fs->epoch) };
	struct fuse_entry_param e = { .generation = 1 };
	struct node_name full = *name;
	struct tree_hint hint = { 0 };
	struct node_place *np;
	unsigned epoch;

	np = fs->shared ? node_where(&fs->nodes, parent, &epoch) : NULL;
	if (np)
		hint = tree_hint(&np->p, name->name, name->len);
	node_place_put(np);
	if (!hint.slow)
		return false;
	found.attr = node_attr_of(&fs->nodes, parent);
	found.attr.ino = fs_ino(found.attr.ino, name->name, name->len, NULL,
				hint.personal ? name->viewers : 0);
	found.attr.size = 0;
	/* Who else may see it is not known yet; but a session for all has one node, as
	 * when it was found: another one takes the name from who works in the first. */
	if (!hint.personal && tree_all_may_see(fs->tree, name->name))
		full.viewers = 0;
	reply_node(fs, req, parent, &full, &found, &e);
	return true;
}

/* "." and "..": the kernel asks when it has forgotten the parent. */
static void lookup_dots(struct fuse_fs *fs, fuse_req_t req, struct node *n, bool up)
{
	struct fuse_entry_param e = { .generation = 1 };
	struct node_attr attr;

	if (up && n->parent)
		n = n->parent;
	attr = node_attr_of(&fs->nodes, n);
	fs_stat(&attr, &e.attr);
	e.ino = n->id;
	node_count_lookup(&fs->nodes, n);
	if (fuse_reply_entry(req, &e))
		node_forget(&fs->nodes, e.ino, 1);
}

void fs_lookup(fuse_req_t req, fuse_ino_t ino, const char *text)
{
	CLEANUP(fs_viewer_fini) struct fs_viewer who = { 0 };
	struct fuse_fs *fs = fuse_req_userdata(req);
	struct node *parent = node_get(&fs->nodes, ino);
	struct node_name name = { .name = text, .len = strlen(text) };
	struct node_found found;
	int rc;

	rc = parent ? fs_viewer_init(fs, req, &who) : -ESTALE;
	/* whose directory it is decides whether there is one */
	if (!rc && parent->viewers && parent->viewers != who.key &&
	    node_is_later(&fs->nodes, parent))
		rc = -ESTALE;
	if (rc) {
		fuse_reply_err(req, fs_errno(rc));
		node_put(&fs->nodes, parent);
		return;
	}
	if (!strcmp(text, ".") || !strcmp(text, "..")) {
		lookup_dots(fs, req, parent, text[1]);
		node_put(&fs->nodes, parent);
		return;
	}
	name.viewers = who.key;
	name.uid = who.v.cred.uid;
	rc = fs_find(fs, parent, &name, &who.v, &found);
	if (rc == -EAGAIN && !reply_later(fs, req, parent, &name)) {
		lookup_ask(fs, req, parent, text, &who);
		return;
	}
	if (rc != -EAGAIN)
		reply_lookup(fs, req, parent, &name, rc, &found);
	node_put(&fs->nodes, parent);
}

void fs_forget(fuse_req_t req, fuse_ino_t ino, uint64_t n)
{
	struct fuse_fs *fs = fuse_req_userdata(req);

	node_forget(&fs->nodes, ino, n);
	fuse_reply_none(req);
}

void fs_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets)
{
	struct fuse_fs *fs = fuse_req_userdata(req);

	for (size_t i = 0; i < count; i++)
		node_forget(&fs->nodes, forgets[i].ino, forgets[i].nlookup);
	fuse_reply_none(req);
}
