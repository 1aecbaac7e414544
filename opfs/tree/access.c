/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/tree/access.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/cleanup.h"
#include "opfs/tree/ask.h"

/* Root and the mount's owner see what the mount can; a private mount has one user. */
static bool sees_all(const struct tree *t, const struct viewer *v)
{
	return !t->o.shared || !v || v->cred.uid == 0 || v->cred.uid == t->o.owner;
}

const struct viewer *tree_reader(const struct tree *t, const struct viewer *v)
{
	return sees_all(t, v) ? NULL : v;
}

bool tree_may_use_samples(const struct tree *t, const struct viewer *v, mode_t want)
{
	int fd = catalog_store_fd(t->store);
	struct stat st;

	if (sees_all(t, v))
		return true;
	if (fstat(fd, &st) || !cred_allows(&v->cred, &st, S_IXOTH))
		return false;
	if (fstatat(fd, "samples", &st, 0))
		return errno == ENOENT;
	return cred_allows(&v->cred, &st, want);
}

bool tree_may_see(const struct tree *t, const char *session, const struct viewer *v)
{
	struct stat st;
	int rc;

	if (sees_all(t, v))
		return true;
	if (!tree_may_use_samples(t, v, S_IXOTH))
		return false;
	rc = catalog_store_stat(t->store, session, NULL, &st);
	if (rc)
		return rc == -ENOENT;
	return cred_allows(&v->cred, &st, S_IROTH | S_IXOTH);
}

/* tree_may_see() of the directory that was opened. */
bool tree_may_see_opened(const struct tree *t, const struct catalog_dir *d,
			 const struct viewer *v)
{
	struct stat st;

	return sees_all(t, v) || d->fd < 0 ||
	       (!fstat(d->fd, &st) && cred_allows(&v->cred, &st, S_IROTH | S_IXOTH));
}

/* Takes from *mode the rights of those who may not search the directory @dir above. */
static void mask_mode(const struct stat *dir, gid_t gid, mode_t *mode)
{
	mode_t group = dir->st_gid == gid ? S_IXGRP : S_IXOTH;

	if (!(dir->st_mode & S_IXOTH))
		*mode &= ~(mode_t)S_IRWXO;
	if (!(dir->st_mode & group))
		*mode &= ~(mode_t)S_IRWXG;
}

/* One mode that says what the kernel would decide on the way to samples/SESSION.  @top:
 * of the session directory. */
static int session_mode(const struct tree *t, const struct stat *top, const char *session,
			struct stat *st)
{
	struct stat samples;
	int rc = catalog_store_stat(t->store, session, &samples, st);

	if (rc)
		return rc;
	mask_mode(top, st->st_gid, &st->st_mode);
	mask_mode(&samples, st->st_gid, &st->st_mode);
	return 0;
}

/* Does a mode give @want, given as that of others, to owner and group as well? */
static bool all_may(mode_t mode, mode_t want)
{
	mode_t all = want << 6 | want << 3 | want;

	return (mode & all) == all;
}

bool tree_all_may_see(const struct tree *t, const char *session)
{
	int fd = catalog_store_fd(t->store), rc;
	struct stat st;

	if (fstat(fd, &st) || !all_may(st.st_mode, S_IXOTH) ||
	    fstatat(fd, "samples", &st, 0) || !all_may(st.st_mode, S_IXOTH))
		return false;
	rc = catalog_store_stat(t->store, session, NULL, &st);
	/* it may come yet */
	return rc ? rc == -ENOENT && !strcmp(session, "current")
		  : all_may(st.st_mode, S_IROTH | S_IXOTH);
}

/* The mode of several sessions: a sum allows what all of them allow; of several owners,
 * the mount's. */
struct sum_mode {
	bool any;
	mode_t mode;
	uid_t uid;
	gid_t gid;
};

static void add_modes(const struct tree *t, const struct stat *top,
		      const struct spec *spec, struct sum_mode *sum)
{
	struct stat st;

	for (size_t i = 0; spec && i < spec->nr_sessions; i++) {
		if (session_mode(t, top, spec->sessions[i], &st))
			continue; /* "current" that is not there yet */
		sum->mode = sum->any ? sum->mode & st.st_mode : st.st_mode & 0777;
		if (sum->any && sum->uid != st.st_uid)
			st.st_uid = t->o.owner;
		if (sum->any && sum->gid != st.st_gid)
			sum->mode &= ~(mode_t)S_IRWXG | (sum->mode & S_IRWXO) << 3;
		sum->uid = st.st_uid;
		sum->gid = st.st_gid;
		sum->any = true;
	}
}

/* Does it name paths of this machine, which only the owner of the mount may? */
static bool names_paths(const struct place *p)
{
	for (size_t i = 0; p->spec && i < SPEC_NR_TAGS; i++)
		if (p->spec->values[i] && spec_tags[i].kind == SPEC_TAG_PATHS)
			return true;
	return p->base && p->base->dir;
}

int tree_mode(struct tree *t, const struct place *p, mode_t *mode, uid_t *uid, gid_t *gid)
{
	struct sum_mode sum = { 0 };
	struct stat st;

	if (fstat(catalog_store_fd(t->store), &st))
		return -errno;
	sum.mode = st.st_mode & 0777;
	sum.uid = st.st_uid;
	sum.gid = st.st_gid;
	add_modes(t, &st, p->spec, &sum);
	if (p->base && !p->base->dir)
		add_modes(t, &st, p->base->p.spec, &sum);
	if (names_paths(p)) {
		sum.mode &= S_IRWXU;
		sum.uid = t->o.owner;
	}
	*mode = sum.mode;
	*uid = sum.uid;
	*gid = sum.gid;
	return 0;
}

bool tree_is_owner(const struct ask *a)
{
	return !a->t->o.shared || !a->v || a->v->cred.uid == a->t->o.owner;
}

int tree_only_owner(const struct ask *a, const char *what)
{
	if (tree_is_owner(a))
		return 0;
	return err_set(a->err, -EACCES,
		       "%s: names paths of this machine, and is only for the user who "
		       "mounted (uid %u): mount for yourself, or use opfs cat",
		       what, (unsigned)a->t->o.owner);
}
