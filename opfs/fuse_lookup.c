/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/fuse_fs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"

/* Longer texts are compared with what was there by a worker. */
enum { QUICK_TEXT = 256 << 10 };

struct lookup {
	struct fs_work work; /* first */
	struct node_found found;
	struct text *text; /* owned */
	char name[];
};

static void found_fini(struct node_found *found)
{
	place_fini(&found->place);
	text_put(found->text);
	*found = (struct node_found){ 0 };
}

/*
 * What a file shows, if it is at hand.  Else GETATTR and OPEN make it: the kernel holds
 * up whoever else looks for the name until LOOKUP is answered, even against signals.
 * What the root's files say may be something else the next time, and is part of them.
 */
static int find_text(struct fuse_fs *fs, const struct viewer *v, bool quick,
		     struct node_found *found)
{
	struct text *text = tree_text_cached(fs->tree, &found->place, v);
	struct err err = { 0 };
	int rc = 0;

	found->keep_text = !found->place.cat;
	if (!text && found->keep_text)
		rc = quick ? -EAGAIN : tree_text(fs->tree, &found->place, v, &text, &err);
	if (rc)
		return rc;
	if (text && quick && text->len > QUICK_TEXT) {
		text_put(text);
		text = NULL;
	}
	found->text = text;
	found->digest = text ? fs_digest(text) : 0;
	return 0;
}

/* What @name in a directory is.  -EAGAIN: @quick is not possible. */
static int resolve(struct fuse_fs *fs, struct node *parent, const struct node_name *name,
		   const struct viewer *v, bool quick, struct node_found *found)
{
	CLEANUP(node_place_fini) struct node_place *np = NULL;
	const struct place *file = NULL;
	struct err err = { 0 };
	uint64_t ino;
	unsigned then;
	int rc;

	*found = (struct node_found){ .epoch = atomic_load(&fs->epoch) };
	np = node_where(&fs->nodes, parent, &then);
	if (np && quick && !tree_quick(fs->tree, &np->p, name->name, name->len))
		return -EAGAIN;
	node_place_put(TAKE(np));
	rc = fs_place(fs, parent, v, &np);
	if (!rc)
		rc = tree_step(fs->tree, &np->p, name->name, name->len, v, &found->place,
			       &err);
	if (rc)
		return rc;
	if (found->place.kind == PLACE_FILE)
		file = &found->place;
	ino = fs_ino(node_attr_of(&fs->nodes, parent).ino, name->name, name->len, file,
		     fs_personal(fs, &found->place) ? name->viewers : 0);
	rc = fs_attr(fs, &found->place, ino, &found->attr);
	if (!rc && file)
		rc = find_text(fs, v, quick, found);
	if (rc)
		found_fini(found);
	return rc;
}

static double entry_timeout(const struct fuse_fs *fs, const struct place *p,
			    unsigned epoch)
{
	/* what users see apart they must ask for apart; what the root says moves */
	if (fs_personal(fs, p) || (p->kind == PLACE_FILE && !p->cat))
		return 0;
	/* beside files of a newer generation no older one is shown */
	if (p->kind == PLACE_FILE && (p->cat->live || (p->base && p->base->p.cat->live)))
		return 0;
	/* sessions came or went since this was found */
	if (epoch != atomic_load(&fs->epoch))
		return 0;
	return fs_dir_timeout(fs, p);
}

/* Names that shells and file managers try everywhere. */
static bool is_probe(const char *name)
{
	static const char *const probes[] = { "autorun.inf", "desktop.ini",
					      "lost+found" };
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++)
		if (!strcasecmp(name, probes[i]))
			return true;
	return name[0] == '.' || (dot && !strcmp(dot, ".desktop"));
}

/* "There is none", and for how long that holds. */
static void reply_none(struct fuse_fs *fs, fuse_req_t req, struct node *parent,
		       const char *name)
{
	struct fuse_entry_param none = { 0 };
	struct node_place *np;
	unsigned epoch;

	np = node_where(&fs->nodes, parent, &epoch);
	if (is_probe(name))
		none.entry_timeout = FS_LONG;
	else if (np && !fs->shared && epoch == atomic_load(&fs->epoch))
		none.entry_timeout = fs_dir_timeout(fs, &np->p);
	node_place_put(np);
	fuse_reply_entry(req, &none);
}

/* Takes over what was found. */
static void reply_found(struct fuse_fs *fs, fuse_req_t req, struct node *parent,
			const struct node_name *name, struct node_found *found)
{
	bool personal = fs_personal(fs, &found->place);
	struct node_name full = { name->name, name->len, personal ? name->viewers : 0 };
	struct fuse_entry_param e = { .generation = 1 };
	struct text *text = found->text;
	struct node_attr attr;
	int rc;

	e.entry_timeout = entry_timeout(fs, &found->place, found->epoch);
	e.attr_timeout = fs_dir_timeout(fs, &found->place);
	rc = node_enter(&fs->nodes, parent, &full, found, &e.ino, &attr);
	text_put(text);
	if (rc) {
		fuse_reply_err(req, fs_errno(rc));
		return;
	}
	if (S_ISREG(attr.mode))
		e.attr_timeout = attr.sized ? FS_LONG : 0;
	fs_stat(&attr, &e.attr);
	if (fuse_reply_entry(req, &e))
		node_forget(&fs->nodes, e.ino, 1);
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
	return (struct node_name){ l->name, strlen(l->name), l->work.who.key };
}

static int lookup_run(void *arg, const atomic_bool *cancel)
{
	struct lookup *l = arg;
	struct node_name name = name_of(l);

	l->work.who.v.cancel = cancel;
	found_fini(&l->found);
	return resolve(l->work.fs, l->work.node, &name, &l->work.who.v, false, &l->found);
}

static void lookup_reply(void *arg, int rc, struct waiter *w)
{
	struct lookup *l = arg;
	struct node_name name = name_of(l);
	fuse_req_t req = fs_waiter_take((struct fs_waiter *)w);
	struct node_found found = l->found;

	/* each of those who wait needs a place of its own */
	if (!rc)
		rc = place_copy(&l->found.place, &found.place);
	if (!rc && found.text)
		text_get(found.text);
	reply_lookup(l->work.fs, req, l->work.node, &name, rc, &found);
}

static void lookup_free(void *arg)
{
	struct lookup *l = arg;

	found_fini(&l->found);
	fs_work_fini(&l->work);
	free(l);
}

static const struct job_ops lookup_ops = { lookup_run, lookup_reply, lookup_free };

/* Takes over @parent and @who. */
static void lookup_ask(struct fuse_fs *fs, fuse_req_t req, struct node *parent,
		       const char *name, struct fs_viewer *who)
{
	struct lookup *l = calloc(1, sizeof(*l) + strlen(name) + 1);

	if (!l) {
		node_put(&fs->nodes, parent);
		fuse_reply_err(req, ENOMEM);
		return;
	}
	fs_work_init(&l->work, fs, who, parent);
	memcpy(l->name, name, strlen(name) + 1);
	fs_ask(fs, req, &lookup_ops, &l->work,
	       &(struct fs_key){ .op = 'l', .id = parent, .name = name },
	       &(struct fs_waiter){ 0 });
}

/* "." and "..", which are asked for when the kernel has lost the way up. */
static void lookup_dots(struct fuse_fs *fs, fuse_req_t req, struct node *n, bool up)
{
	struct fuse_entry_param e = { .generation = 1 };
	struct node_attr attr;

	if (up && n->parent)
		n = n->parent;
	attr = node_attr_of(&fs->nodes, n);
	fs_stat(&attr, &e.attr);
	e.ino = n->id;
	node_again(&fs->nodes, n);
	if (fuse_reply_entry(req, &e))
		node_forget(&fs->nodes, e.ino, 1);
}

void fs_lookup(fuse_req_t req, fuse_ino_t ino, const char *text)
{
	CLEANUP(fs_viewer_fini) struct fs_viewer who = { 0 };
	struct fuse_fs *fs = fuse_req_userdata(req);
	struct node *parent = node_get(&fs->nodes, ino);
	struct node_name name = { text, strlen(text), 0 };
	struct node_found found;
	int rc;

	rc = parent ? fs_viewer_init(fs, req, &who) : -ESTALE;
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
	rc = resolve(fs, parent, &name, &who.v, true, &found);
	if (rc == -EAGAIN) {
		lookup_ask(fs, req, parent, text, &who);
		return;
	}
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
