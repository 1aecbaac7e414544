/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/session/spans.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "libspec/name/clock.h"
#include "libspec/session/session.h"

/* For LOOK_NS a list is used unchecked, and a directory's mtime may not show a change. */
enum { LOOK_NS = 20000000, MANY = 16, MAX_LISTS = 8 };

struct spans {
	int session_dir_fd;
	const uid_t *trusted;
	pthread_mutex_t lock; /* held while directories are read */
	struct spans_list list;
	struct timespec mtime; /* of samples/ when it was listed */
	uint64_t ino;          /* of samples/; 0: it was not there */
	uint64_t looked_ns;    /* CLOCK_REALTIME, when @list was made or found right */
};

struct spans *spans_new(int session_dir_fd, const uid_t *trusted)
{
	struct spans *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	pthread_mutex_init(&s->lock, NULL);
	s->session_dir_fd = session_dir_fd;
	s->trusted = trusted;
	return s;
}

void spans_list_fini(struct spans_list *l)
{
	for (size_t i = 0; i < l->nr; i++)
		free(l->rows[i].name);
	free(l->rows);
	*l = (struct spans_list){ 0 };
}

void spans_free(struct spans *s)
{
	if (!s)
		return;
	spans_list_fini(&s->list);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/* ---- reading */

static int compare_rows(const void *x, const void *y)
{
	const struct spans_row *a = x, *b = y;

	return strcmp(a->name, b->name);
}

static const struct spans_row *find_row(const struct spans_list *l, char *name)
{
	struct spans_row like = { .name = name };

	return l->nr ? bsearch(&like, l->rows, l->nr, sizeof(like), compare_rows) : NULL;
}

static bool is_final(const struct spans_row *row)
{
	return row->dated && row->when.closed && strcmp(row->name, "current") != 0;
}

/* Reads what may have changed; a session that vanished has no time. */
static void read_row(const struct spans *s, const struct spans_row *known,
		     uint64_t now_ns, struct spans_row *row)
{
	CLEANUP(close_fd) int samples_fd = spec_session_samples(s->session_dir_fd);
	CLEANUP(close_fd) int fd = -1;
	struct stat st;

	if (samples_fd < 0 || spec_session_stat(samples_fd, row->name, s->trusted, &st))
		return;
	if (known && is_final(known) && known->dev == st.st_dev &&
	    known->ino == st.st_ino && known->mtime_ns == clock_ns_of(&st.st_mtim)) {
		row->dev = known->dev;
		row->ino = known->ino;
		row->mtime_ns = known->mtime_ns;
		row->when = known->when;
		row->dated = true;
		return;
	}
	fd = spec_session_open(samples_fd, row->name, s->trusted);
	if (fd < 0 || fstat(fd, &st))
		return;
	row->dev = st.st_dev;
	row->ino = st.st_ino;
	row->mtime_ns = clock_ns_of(&st.st_mtim);
	row->dated = !spec_session_span(fd, row->name, now_ns, &row->when, NULL);
}

/* Takes over @name. */
static void add_row(const struct spans *s, uint64_t now_ns, char *name,
		    struct spans_list *l)
{
	struct spans_row *row = &l->rows[l->nr++];

	row->name = name;
	read_row(s, find_row(&s->list, name), now_ns, row);
}

/* Between the exchange and its rename a rotated session has a hidden name, but exists. */
static int add_unnamed(const struct spans *s, uint64_t now_ns, const char *name,
		       struct spans_list *l)
{
	static const char *const roots[] = { "{root}", "{kern}" };

	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		char path[64], *copy;

		snprintf(path, sizeof(path), "samples/%s/%s", name, roots[i]);
		if (faccessat(s->session_dir_fd, path, F_OK, AT_SYMLINK_NOFOLLOW))
			continue;
		copy = strdup(name);
		if (!copy)
			return -ENOMEM;
		add_row(s, now_ns, copy, l);
		break;
	}
	return 0;
}

static bool is_same(const struct spans_list *a, const struct spans_list *b)
{
	if (a->nr != b->nr)
		return false;
	for (size_t i = 0; i < a->nr; i++)
		if (strcmp(a->rows[i].name, b->rows[i].name) != 0 ||
		    a->rows[i].dev != b->rows[i].dev || a->rows[i].ino != b->rows[i].ino)
			return false;
	return true;
}

/* *same: the list has not changed. */
static int list_once(struct spans *s, uint64_t now_ns, bool *same, struct err *err)
{
	CLEANUP(names_fini) struct names names = { 0 };
	CLEANUP(spans_list_fini) struct spans_list l = { 0 };
	int rc = spec_session_list(s->session_dir_fd, s->trusted, &names, err);

	if (rc && rc != -ENOENT)
		return rc;
	l.rows = calloc(names.len + 2, sizeof(*l.rows));
	rc = l.rows ? 0 : -ENOMEM;
	for (size_t i = 0; i < names.len && !rc; i++)
		add_row(s, now_ns, TAKE(names.data[i]), &l);
	if (!rc)
		rc = add_unnamed(s, now_ns, SPEC_SESSION_NEXT, &l);
	if (!rc)
		rc = add_unnamed(s, now_ns, SPEC_SESSION_LAST, &l);
	if (rc)
		return err_set(err, rc, "out of memory");
	qsort(l.rows, l.nr, sizeof(*l.rows), compare_rows);
	*same = is_same(&l, &s->list);
	spans_list_fini(&s->list);
	s->list = TAKE(l);
	return 0;
}

/*
 * A rotation meanwhile can hide a session: it had no name yet when names were read, and
 * has one when hidden names are tried.  Then the next list differs.
 */
static int list_anew(struct spans *s, uint64_t now_ns, struct err *err)
{
	bool same = false;
	int rc = 0;

	for (int i = 0; i < MAX_LISTS && !same && !rc; i++)
		rc = list_once(s, now_ns, &same, err);
	return rc;
}

/* Sessions that are not closed, or have no time yet. */
static void look_again(struct spans *s, uint64_t now_ns)
{
	for (size_t i = 0; i < s->list.nr; i++) {
		struct spans_row *row = &s->list.rows[i], fresh = { .name = row->name };

		if (is_final(row))
			continue;
		read_row(s, NULL, now_ns, &fresh);
		*row = fresh;
	}
}

/* Is samples/ as it was when it was listed? */
static bool is_listed(const struct spans *s, const struct stat *st)
{
	return s->looked_ns && st->st_ino == s->ino &&
	       st->st_mtim.tv_sec == s->mtime.tv_sec &&
	       st->st_mtim.tv_nsec == s->mtime.tv_nsec &&
	       clock_ns_of(&st->st_mtim) + LOOK_NS < s->looked_ns;
}

static int renew(struct spans *s, uint64_t now_ns, bool quick, struct err *err)
{
	struct stat st = { 0 };
	int rc;

	if (fstatat(s->session_dir_fd, "samples", &st, 0) && errno != ENOENT)
		return err_errno(err, -errno, "samples, in the session directory");
	if (is_listed(s, &st)) {
		look_again(s, now_ns);
		s->looked_ns = now_ns;
		return 0;
	}
	if (quick && s->list.nr > MANY)
		return -EAGAIN;
	rc = list_anew(s, now_ns, err);
	if (rc)
		return rc;
	s->ino = st.st_ino;
	s->mtime = st.st_mtim;
	s->looked_ns = now_ns;
	return 0;
}

static int copy(const struct spans_list *from, struct spans_list *out, struct err *err)
{
	CLEANUP(spans_list_fini) struct spans_list l = { 0 };

	l.rows = calloc(from->nr + 1, sizeof(*l.rows));
	for (; l.rows && l.nr < from->nr; l.nr++) {
		l.rows[l.nr] = from->rows[l.nr];
		l.rows[l.nr].name = strdup(from->rows[l.nr].name);
		if (!l.rows[l.nr].name)
			return err_set(err, -ENOMEM, "out of memory");
	}
	if (!l.rows)
		return err_set(err, -ENOMEM, "out of memory");
	*out = TAKE(l);
	return 0;
}

int spans_get(struct spans *s, uint64_t now_ns, bool anew, bool quick,
	      struct spans_list *out, struct err *err)
{
	int rc = 0;

	if (quick && pthread_mutex_trylock(&s->lock))
		return -EAGAIN;
	if (!quick)
		pthread_mutex_lock(&s->lock);
	if (anew || now_ns < s->looked_ns || now_ns - s->looked_ns > LOOK_NS)
		rc = renew(s, now_ns, quick, err);
	rc = rc ? rc : copy(&s->list, out, err);
	pthread_mutex_unlock(&s->lock);
	return rc;
}
