/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/tree/resolve.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/map.h"

enum { MAX_LINKS = 40, NR_SLOTS = 256, KEEP_SECONDS = 3 };

struct slot {
	char *path;
	char *real; /* NULL: no links in it */
	time_t at;  /* CLOCK_MONOTONIC */
};

struct resolver {
	char *mountpoint;
	pthread_mutex_t lock;
	struct slot slots[NR_SLOTS];
};

struct resolver *resolver_new(const char *mountpoint)
{
	struct resolver *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	pthread_mutex_init(&r->lock, NULL);
	r->mountpoint = mountpoint ? strdup(mountpoint) : NULL;
	if (mountpoint && !r->mountpoint) {
		resolver_free(r);
		return NULL;
	}
	return r;
}

void resolver_free(struct resolver *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < NR_SLOTS; i++) {
		free(r->slots[i].path);
		free(r->slots[i].real);
	}
	pthread_mutex_destroy(&r->lock);
	free(r->mountpoint);
	free(r);
}

/* ---- walking */

struct walk {
	struct strbuf done; /* real path so far, no slash at its end */
	struct strbuf todo; /* what is left, no slash at its start */
	unsigned links;
};

static void walk_fini(struct walk *w)
{
	strbuf_fini(&w->done);
	strbuf_fini(&w->todo);
}

/* Removes the first component from w->todo. */
static char *next_component(struct walk *w)
{
	const char *s = strbuf_str(&w->todo);
	size_t len = strcspn(s, "/");
	char *name = strndup(s, len);

	len += strspn(s + len, "/");
	if (name) {
		memmove(w->todo.data, w->todo.data + len, w->todo.len - len + 1);
		w->todo.len -= len;
	}
	return name;
}

static void drop_component(struct strbuf *path)
{
	const char *slash = path->len ? strrchr(path->data, '/') : NULL;

	strbuf_truncate(path, slash ? (size_t)(slash - path->data) : 0);
}

/* @target takes the place of the last component of w->done. */
static void follow(struct walk *w, const char *target)
{
	CLEANUP(strbuf_fini) struct strbuf rest = TAKE(w->todo);

	drop_component(&w->done);
	if (*target == '/')
		strbuf_truncate(&w->done, 0);
	strbuf_puts(&w->todo, target + strspn(target, "/"));
	if (rest.len && w->todo.len && w->todo.data[w->todo.len - 1] != '/')
		strbuf_putc(&w->todo, '/');
	strbuf_puts(&w->todo, strbuf_str(&rest));
	w->links++;
}

/* False: the rest does not exist, or must not be looked at. */
static bool step(const struct resolver *r, struct walk *w, const char *name)
{
	char target[PATH_MAX];
	ssize_t len;

	if (!*name || !strcmp(name, "."))
		return true;
	if (!strcmp(name, "..")) {
		drop_component(&w->done);
		return true;
	}
	strbuf_putc(&w->done, '/');
	strbuf_puts(&w->done, name);
	if (strbuf_error(&w->done) ||
	    (r->mountpoint && !strcmp(w->done.data, r->mountpoint)))
		return false;
	len = readlink(w->done.data, target, sizeof(target) - 1);
	if (len < 0)
		return errno == EINVAL; /* is there, and no link */
	if (w->links >= MAX_LINKS)
		return false;
	target[len] = '\0';
	follow(w, target);
	return true;
}

/* The real path, owned by the caller; NULL if it is the path itself. */
static int look(const struct resolver *r, const char *path, char **real)
{
	CLEANUP(walk_fini) struct walk w = { 0 };
	bool exists = true;

	*real = NULL;
	strbuf_puts(&w.todo, path + strspn(path, "/"));
	while (exists && w.todo.len) {
		CLEANUP(free_ptr) char *name = next_component(&w);

		if (!name)
			return -ENOMEM;
		exists = step(r, &w, name);
	}
	if (w.todo.len) {
		strbuf_putc(&w.done, '/');
		strbuf_puts(&w.done, strbuf_str(&w.todo));
	}
	if (strbuf_error(&w.done) || strbuf_error(&w.todo))
		return -ENOMEM;
	if (!w.links || !w.done.len || !strcmp(strbuf_str(&w.done), path))
		return 0;
	*real = strbuf_take(&w.done);
	return *real ? 0 : -ENOMEM;
}

/* ---- remembering */

static time_t seconds(void)
{
	return (time_t)(clock_mono_ns() / CLOCK_NS_PER_S);
}

static int answer(const char *real, struct strbuf *out)
{
	if (!real)
		return -ENOENT;
	strbuf_puts(out, real);
	return strbuf_error(out);
}

int resolver_path(struct resolver *r, const char *path, bool remembered_only,
		  struct strbuf *out)
{
	struct slot *slot = &r->slots[map_hash(path, strlen(path)) % NR_SLOTS];
	CLEANUP(free_ptr) char *real = NULL;
	CLEANUP(free_ptr) char *copy = NULL;
	int rc = -EAGAIN;

	pthread_mutex_lock(&r->lock);
	if (slot->path && !strcmp(slot->path, path) &&
	    seconds() - slot->at < KEEP_SECONDS)
		rc = answer(slot->real, out);
	pthread_mutex_unlock(&r->lock);
	if (rc != -EAGAIN || remembered_only)
		return rc;
	rc = look(r, path, &real);
	copy = strdup(path);
	if (rc || !copy)
		return -ENOMEM;
	rc = answer(real, out);
	pthread_mutex_lock(&r->lock);
	free(slot->path);
	free(slot->real);
	*slot = (struct slot){ TAKE(copy), TAKE(real), seconds() };
	pthread_mutex_unlock(&r->lock);
	return rc;
}
