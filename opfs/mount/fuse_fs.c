/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/mount/fuse_fs.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "opfs/tree/access.h"

enum { SECTOR = 512 };
/* Comparing a longer text with the node's is left to a worker. */
enum { QUICK_TEXT = 256 << 10 };

/* Does it show several sessions, or two sides? */
static bool is_sum(const struct place *p)
{
	return p->base || (p->spec && p->spec->nr_sessions > 1);
}

int fs_attr(struct fuse_fs *fs, const struct place *p, const struct viewer *v,
	    uint64_t ino, struct node_attr *out)
{
	mode_t mode = 0555;
	int rc;

	*out = (struct node_attr){ .ino = ino, .mtime_ns = place_mtime_ns(p) };
	rc = tree_mode(fs->tree, p, &mode, &out->uid, &out->gid);
	if (rc)
		return rc;
	/* of sessions of several owners, maybe: he may see each, and the node is his */
	if (v && is_sum(p)) {
		out->uid = v->cred.uid;
		mode |= S_IRUSR | S_IXUSR;
	}
	out->mode = place_kinds[p->kind].mode;
	if (p->kind == PLACE_LINK)
		out->size = p->target ? strlen(p->target) : 0;
	else
		out->mode &= S_IFMT | mode;
	if (S_ISDIR(out->mode)) {
		out->size = place_samples(p);
		out->self = place_self(p);
	}
	return 0;
}

uint64_t fs_ino(uint64_t parent, const char *name, size_t len, const struct place *file,
		uint64_t viewers)
{
	uint64_t id[4] = { parent, map_hash(name, len), 0, viewers };

	if (file)
		id[2] = place_generation(file);
	/* 0 is no inode number, 1 is the root's */
	return map_hash(id, sizeof(id)) | 2;
}

void fs_stat(const struct node_attr *attr, struct stat *out)
{
	struct timespec when = { .tv_sec = (time_t)(attr->mtime_ns / CLOCK_NS_PER_S),
				 .tv_nsec = (long)(attr->mtime_ns % CLOCK_NS_PER_S) };

	*out = (struct stat){
		.st_ino = attr->ino,
		.st_mode = attr->mode,
		.st_nlink = S_ISDIR(attr->mode) ? 2 : 1,
		.st_uid = attr->uid,
		.st_gid = attr->gid,
		.st_size = attr->size > INT64_MAX ? INT64_MAX : (off_t)attr->size,
		.st_blksize = FS_BLOCK,
		.st_atim = when,
		.st_mtim = when,
		.st_ctim = when,
	};
	if (S_ISREG(attr->mode))
		out->st_blocks = (out->st_size + SECTOR - 1) / SECTOR;
	else
		out->st_blocks = (blkcnt_t)attr->self;
}

uint64_t fs_digest(const struct text *text)
{
	struct stat st;

	if (text->source) /* its content does not change, so its address identifies it */
		return map_hash(&text, sizeof(text));
	if (text->fd < 0)
		return map_hash(text->data, text->len);
	/* in an unnamed file, which lives as long as the text */
	if (fstat(text->fd, &st))
		return map_hash(&text, sizeof(text));
	return map_hash(&st.st_ino, sizeof(st.st_ino));
}

bool fs_differs(const struct fuse_fs *fs, const struct place *p)
{
	if (!fs->shared)
		return false;
	if (is_sum(p) || place_is_file(p) || p->kind == PLACE_ENTRIES ||
	    (p->tag && tree_tag_differs(p->tag)) || place_follows_links(p))
		return true;
	for (size_t i = 0; p->spec && i < SPEC_NR_TAGS; i++)
		if (p->spec->values[i] && tree_tag_differs(&spec_tags[i]))
			return true;
	return false;
}

static bool is_for_all(const struct fuse_fs *fs, const struct place *p)
{
	for (size_t i = 0; i < p->spec->nr_sessions; i++)
		if (!tree_all_may_see(fs->tree, p->spec->sessions[i]))
			return false;
	return true;
}

/* What there is in a closed session, and how many samples, the kernel must not tell
 * everybody who is in one of its directories. */
bool fs_personal(const struct fuse_fs *fs, const struct place *p)
{
	return fs_differs(fs, p) || (fs->shared && p->spec && !is_for_all(fs, p));
}

double fs_dir_timeout(const struct fuse_fs *fs, const struct place *p)
{
	/* binaries that are installed later may have more symbols */
	if (p->kind == PLACE_ENTRIES || p->tag == &spec_tags[SPEC_SYMBOL])
		return FS_SHORT;
	return place_saved(p) && fs->watched && !(p->base && p->base->dir) ? FS_LONG
									   : FS_SHORT;
}

/* May @v see all sessions of one side? */
static bool may_see_side(const struct fuse_fs *fs, const struct place *p,
			 const struct viewer *v)
{
	/* the directories above are the same for all */
	if (p->spec && p->spec->nr_sessions &&
	    !tree_may_see(fs->tree, p->spec->sessions[0], v))
		return false;
	for (size_t i = 0; p->cat && i < p->cat->nr_dirs; i++)
		if (!tree_may_see_opened(fs->tree, &p->cat->dirs[i], v))
			return false;
	return true;
}

/* May @v still see what was found when modes may have been others? */
static bool may_see(const struct fuse_fs *fs, const struct place *p,
		    const struct viewer *v)
{
	if (!fs->shared || !tree_reader(fs->tree, v))
		return true;
	return may_see_side(fs, p, v) &&
	       (!p->base || p->base->dir || may_see_side(fs, &p->base->p, v));
}

int fs_may_see(struct fuse_fs *fs, struct node *n, const struct viewer *v)
{
	CLEANUP(node_place_fini) struct node_place *np = NULL;
	unsigned epoch;
	bool is_dir;

	if (!fs->shared)
		return 0;
	is_dir = S_ISDIR(node_attr_of(&fs->nodes, n).mode);
	/* the place of a file may have gone, with its text */
	if (!is_dir)
		n = n->parent;
	np = node_where(&fs->nodes, n, &epoch);
	if (!np)
		return is_dir || !node_is_later(&fs->nodes, n) ? 0 : -ESTALE;
	return may_see(fs, &np->p, v) ? 0 : -EACCES;
}

static bool same_readers(const struct place *p)
{
	for (size_t i = 0; p->cat && i < p->cat->nr_dirs; i++)
		if (!catalog_same_readers(&p->cat->dirs[i]))
			return false;
	return true;
}

/* Is all that it tells told to the same people as when it was read? */
static bool tells_the_same(const struct fuse_fs *fs, const struct place *p)
{
	return !fs->shared ||
	       (same_readers(p) && (!p->base || same_readers(&p->base->p)));
}

/* A directory moves to its place in a newer generation, and keeps its node. */
static int move(struct fuse_fs *fs, struct node *n, struct place *to,
		const struct viewer *v, unsigned epoch, struct node_place **np)
{
	struct node_attr was = node_attr_of(&fs->nodes, n), attr;
	struct node_place *fresh;
	int rc = fs_attr(fs, to, v, was.ino, &attr);

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

/* Does what was found in epoch @then still hold, without looking? */
static bool is_settled(const struct fuse_fs *fs, const struct place *p, unsigned then,
		       unsigned now)
{
	if (place_is_file(p) || p->kind == PLACE_LINK)
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

void fs_found_fini(struct node_found *found)
{
	place_fini(&found->place);
	text_put(found->text);
	*found = (struct node_found){ 0 };
}

/*
 * A file's text, if it is cached.  Otherwise GETATTR and OPEN make it: until LOOKUP is
 * answered, the kernel blocks all others that look the name up, even against signals.
 * Files of the root may read otherwise the next time, so their text is part of the node,
 * and made here if no session has to be read for it.
 */
static int find_text(struct fuse_fs *fs, const struct viewer *v, struct node_found *found)
{
	struct text *text = tree_text_cached(fs->tree, &found->place, v);
	struct err err = { 0 };
	int rc = 0;

	found->keep_text = !found->place.cat;
	if (!text && found->keep_text && !tree_text_is_slow(&found->place))
		rc = tree_text(fs->tree, &found->place, v, &text, &err);
	if (rc)
		return rc;
	if (text && viewer_quick(v) && text->len > QUICK_TEXT) {
		text_put(text);
		text = NULL;
	}
	found->text = text;
	found->digest = text ? fs_digest(text) : 0;
	return 0;
}

int fs_find(struct fuse_fs *fs, struct node *parent, const struct node_name *name,
	    const struct viewer *v, struct node_found *found)
{
	CLEANUP(node_place_fini) struct node_place *np = NULL;
	const struct place *file = NULL;
	struct tree_hint hint;
	struct err err = { 0 };
	uint64_t ino;
	int rc;

	*found = (struct node_found){ .epoch = atomic_load(&fs->epoch) };
	rc = fs_place(fs, parent, v, &np);
	if (!rc)
		rc = tree_step(fs->tree, &np->p, name->name, name->len, v, &found->place,
			       &err);
	if (rc)
		return rc;
	if (place_is_file(&found->place))
		file = &found->place;
	hint = tree_hint(&np->p, name->name, name->len);
	found->personal = fs->shared && (hint.personal || fs_personal(fs, &found->place));
	ino = fs_ino(node_attr_of(&fs->nodes, parent).ino, name->name, name->len, file,
		     fs->shared && (hint.personal || fs_differs(fs, &found->place))
			     ? name->viewers
			     : 0);
	rc = fs_attr(fs, &found->place, v, ino, &found->attr);
	if (!rc && file)
		rc = find_text(fs, v, found);
	if (rc)
		fs_found_fini(found);
	return rc;
}

/* Looks for what a lookup only promised, or once found for others to see. */
static int keep_promise(struct fuse_fs *fs, struct node *n, const struct viewer *v,
			struct node_place **out)
{
	struct node_name name = { n->name, n->name_len, n->viewers, n->uid };
	struct node_found found;
	struct node_place *np;
	int rc;

	if (viewer_quick(v))
		return -EAGAIN;
	if (n->viewers && n->uid != v->cred.uid) /* it is not his */
		return -ESTALE;
	rc = fs_find(fs, n->parent, &name, v, &found);
	if (rc)
		return rc;
	if (!S_ISDIR(found.attr.mode) || (found.personal && !n->viewers)) {
		fs_found_fini(&found);
		return -ESTALE;
	}
	np = node_place_new(&found.place);
	if (!np)
		return -ENOMEM;
	*out = node_place_get(np);
	node_moved(&fs->nodes, n, np, &found.attr, found.epoch);
	return 0;
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
	if (!np && node_is_later(&fs->nodes, n))
		return keep_promise(fs, n, v, out);
	if (!np) /* another thread has just done so */
		np = node_where(&fs->nodes, n, &then);
	if (!np)
		return -ESTALE;
	if (!is_settled(fs, &np->p, then, now) || !tells_the_same(fs, &np->p)) {
		rc = place_copy(&np->p, &fresh);
		if (rc)
			return rc;
		rc = tree_refresh(fs->tree, &fresh, v, &err);
		if (rc) {
			place_fini(&fresh);
			/* a sum that has lost a session is that of the others */
			if (rc == -ENOENT && is_sum(&np->p))
				rc = keep_promise(fs, n, v, out);
			return rc == -ENOENT ? -ESTALE : rc;
		}
		if (same_places(&fresh, &np->p) && then == now)
			place_fini(&fresh);
		else
			rc = move(fs, n, &fresh, v, now, &np);
		if (rc)
			return rc;
	}
	/* also one that has lost it for him only */
	if (!may_see(fs, &np->p, v))
		return n->viewers && n->uid == v->cred.uid ? keep_promise(fs, n, v, out)
							   : -EACCES;
	*out = TAKE(np);
	return 0;
}

void fs_reply_attr(struct fuse_fs *fs, fuse_req_t req, struct node *n,
		   const struct place *p)
{
	struct node_attr attr = node_attr_of(&fs->nodes, n);
	struct stat st;

	fs_stat(&attr, &st);
	/* a file never changes: another content is another node */
	fuse_reply_attr(req, &st,
			S_ISDIR(attr.mode) ? fs_dir_timeout(fs, p)
			: attr.sized       ? FS_LONG
					   : 0);
}

int fs_errno(int rc)
{
	return rc < 0 && rc > -4096 ? -rc : EIO;
}
