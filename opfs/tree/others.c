/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/tree/others.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/names.h"
#include "libspec/session/session.h"
#include "opfs/session/archive_dir.h"
#include "opfs/tree/ask.h"

void tree_others_init(struct others *o)
{
	*o = (struct others){ 0 };
	pthread_mutex_init(&o->lock, NULL);
}

static void close_one(struct other *one)
{
	catalog_store_free(one->store);
	free(one->path);
	*one = (struct other){ 0 };
}

void tree_others_fini(struct others *o)
{
	for (size_t i = 0; i < TREE_MAX_OTHERS; i++)
		close_one(&o->all[i]);
	pthread_mutex_destroy(&o->lock);
}

/* Is what was opened still what the path leads to? */
static bool still_there(const struct other *one)
{
	struct stat now;

	return !stat(one->path, &now) && now.st_dev == one->dev && now.st_ino == one->ino;
}

/* The lock is held.  NULL: all are in use. */
static struct other *free_slot(struct others *o)
{
	struct other *oldest = NULL;

	for (size_t i = 0; i < TREE_MAX_OTHERS; i++) {
		struct other *one = &o->all[i];

		if (!one->refs && (!oldest || one->used < oldest->used))
			oldest = one;
	}
	if (oldest)
		close_one(oldest);
	return oldest;
}

static struct other *find(struct others *o, const char *dir)
{
	for (size_t i = 0; i < TREE_MAX_OTHERS; i++)
		if (o->all[i].path && !strcmp(o->all[i].path, dir) &&
		    (o->all[i].refs || still_there(&o->all[i])))
			return &o->all[i];
	return NULL;
}

static int open_one(struct others *o, const char *dir, struct other **out,
		    struct err *err)
{
	struct other *one = free_slot(o);
	struct stat st;
	int rc;

	if (!one)
		return err_set(err, -EMFILE,
			       "%.200s: more than %d session directories are compared at "
			       "once",
			       dir, TREE_MAX_OTHERS);
	if (stat(dir, &st))
		return err_errno(err, -errno, "%.300s", dir);
	one->dev = st.st_dev;
	one->ino = st.st_ino;
	rc = catalog_store_new(dir, NULL, &one->store, err);
	one->path = rc ? NULL : strdup(dir);
	if (!rc && !one->path) {
		close_one(one);
		rc = err_set(err, -ENOMEM, "out of memory");
	}
	*out = one;
	return rc;
}

static int borrow(const struct ask *a, const char *dir, struct other **out)
{
	struct others *o = &a->t->others;
	int rc = 0;

	pthread_mutex_lock(&o->lock);
	*out = find(o, dir);
	if (!*out)
		rc = viewer_quick(a->v) ? -EAGAIN : open_one(o, dir, out, a->err);
	if (!rc) {
		(*out)->refs++;
		(*out)->used = ++o->clock;
	}
	pthread_mutex_unlock(&o->lock);
	return rc;
}

static void give_back(const struct ask *a, struct other *one)
{
	pthread_mutex_lock(&a->t->others.lock);
	one->refs--;
	pthread_mutex_unlock(&a->t->others.lock);
}

static int catalog_of(const struct ask *a, struct catalog_store *store,
		      const struct spec *spec, struct catalog **out)
{
	if (viewer_quick(a->v)) {
		*out = catalog_store_ready(store, spec->sessions, spec->nr_sessions);
		return *out ? 0 : -EAGAIN;
	}
	return catalog_store_get(store, spec->sessions, spec->nr_sessions, a->v, out,
				 a->err);
}

int tree_catalog(const struct ask *a, const char *dir, const struct spec *spec,
		 struct catalog **out)
{
	struct other *one;
	int rc;

	if (!dir)
		return catalog_of(a, a->t->store, spec, out);
	rc = borrow(a, dir, &one);
	if (rc)
		return rc;
	rc = catalog_of(a, one->store, spec, out);
	give_back(a, one);
	return rc;
}

/* ---- which session a path means */

/* What there is in a session directory: "current", else the only session. */
static int pick(const struct ask *a, const char *dir, const struct names *list,
		struct names *out)
{
	if (!list->len)
		return err_set(a->err, -ENOENT, "%.200s has no session", dir);
	for (size_t i = 0; i < list->len; i++)
		if (!strcmp(list->data[i], "current") || list->len == 1)
			return names_add(out, list->data[i]);
	return err_set(a->err, -ENOENT,
		       "%.200s has %zu sessions: say which, as in %.200s/samples/%.60s "
		       "with each / as %%2F",
		       dir, list->len, dir, list->data[0]);
}

static int only_session(const struct ask *a, const char *dir, struct names *out)
{
	struct names list = { 0 };
	struct other *one;
	int rc = borrow(a, dir, &one);

	if (rc)
		return rc;
	rc = spec_session_list(catalog_store_fd(one->store), NULL, &list, a->err);
	give_back(a, one);
	rc = rc ? rc : pick(a, dir, &list, out);
	names_fini(&list);
	return rc;
}

/* ".../samples/NAME" is that session of "...". */
static char *above_samples(const char *path, const char **session)
{
	const char *name = strrchr(path, '/'), *samples = strstr(path, "/samples/");

	for (const char *at = samples; at; at = strstr(at + 1, "/samples/"))
		samples = at;
	if (!samples || samples == path || samples + strlen("/samples/") != name + 1 ||
	    !name[1])
		return NULL;
	*session = name + 1;
	return strndup(path, (size_t)(samples - path));
}

int tree_find_session(const struct ask *a, const char *path, char **dir,
		      struct names *out)
{
	static const char *const below[] = { "", "/" ARCHIVE_DIR_OPROFILE };
	const char *session;

	for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++) {
		CLEANUP(strbuf_fini) struct strbuf samples = { 0 };

		strbuf_printf(&samples, "%s%s/samples", path, below[i]);
		if (!file_is_dir(strbuf_str(&samples)))
			continue;
		*dir = strdup(path);
		return *dir ? only_session(a, *dir, out) : -ENOMEM;
	}
	*dir = file_is_dir(path) ? above_samples(path, &session) : NULL;
	if (*dir)
		return names_add(out, session);
	return err_set(
		a->err, -ENOENT,
		"%.300s is no session directory: there is no directory samples in it",
		path);
}
