/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/file/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "libsym/file/guard.h"

enum { MAX_LINKS = 40, MAX_STEPS = 2048 };

void sym_at_fini(struct sym_at *at)
{
	close_fd(&at->fd);
	*at = (struct sym_at)SYM_AT_NONE;
}

/* What the kernel knows of it, without asking the file system. */
static int open_at(int dir, const char *name, int flags, struct sym_at *to)
{
	struct statx st;
	CLEANUP(close_fd) int fd = openat(dir, name, O_PATH | O_CLOEXEC | flags);

	if (fd < 0 || statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
			    STATX_TYPE | STATX_MODE | STATX_UID | STATX_GID, &st))
		return -errno;
	*to = (struct sym_at){
		.dev = makedev(st.stx_dev_major, st.stx_dev_minor),
		.mode = st.stx_mode,
		.uid = st.stx_uid,
		.gid = st.stx_gid,
		.fd = take_fd(&fd),
	};
	return 0;
}

static int step(const struct sym_at *from, const char *name, int flags, struct sym_at *to)
{
	int rc = open_at(from->fd, name, O_NOFOLLOW | flags, to);

	to->autofs = from->autofs;
	if (!rc && to->dev != from->dev)
		rc = sym_guard(to->fd, to->dev, &to->autofs);
	return rc;
}

int sym_at_step(const struct sym_at *from, const char *name, struct sym_at *to)
{
	CLEANUP(sym_at_fini) struct sym_at next = SYM_AT_NONE;
	int rc = step(from, name, 0, &next);

	if (!rc && next.autofs && S_ISDIR(next.mode)) { /* has it mounted */
		sym_at_fini(&next);
		rc = step(from, name, O_DIRECTORY, &next);
	}
	if (rc)
		return rc;
	*to = next;
	next.fd = -1;
	return 0;
}

void sym_walk_fini(struct sym_walk *w)
{
	sym_at_fini(&w->at);
	strbuf_fini(&w->real);
	strbuf_fini(&w->todo);
}

/* Removes the first component from w->todo. */
static char *next_component(struct sym_walk *w)
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

static int begin(struct sym_walk *w)
{
	int rc = open_at(AT_FDCWD, w->top ? w->top : "/", 0, &w->at);

	if (w->top && rc == -ENOENT)
		return -ESRCH;
	return rc || !w->top ? rc : sym_guard(w->at.fd, w->at.dev, &w->at.autofs);
}

/* The link's target takes its place. */
static int follow(struct sym_walk *w, const struct sym_at *link)
{
	CLEANUP(strbuf_fini) struct strbuf rest = { 0 };
	char target[PATH_MAX];
	ssize_t len = readlinkat(link->fd, "", target, sizeof(target) - 1);

	if (len < 0)
		return -errno;
	if (w->links++ >= MAX_LINKS)
		return -ELOOP;
	target[len] = '\0';
	rest = TAKE(w->todo);
	strbuf_puts(&w->todo, target + strspn(target, "/"));
	if (rest.len && w->todo.len && w->todo.data[w->todo.len - 1] != '/')
		strbuf_putc(&w->todo, '/');
	strbuf_puts(&w->todo, strbuf_str(&rest));
	if (*target != '/')
		return 0;
	strbuf_truncate(&w->real, 0);
	sym_at_fini(&w->at);
	return begin(w);
}

/* Where this process has other rights, modes decide. */
static int may_enter(const struct sym_walk *w)
{
	const struct stat st = { .st_mode = w->at.mode,
				 .st_uid = w->at.uid,
				 .st_gid = w->at.gid };

	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	return !cred_is_other(w->cred) || cred_allows(w->cred, &st, S_IXOTH) ? 0
									     : -EACCES;
}

static int take(struct sym_walk *w, const char *name, struct sym_at *next)
{
	const char *slash = w->real.len ? strrchr(w->real.data, '/') : NULL;

	if (!strcmp(name, "..")) {
		strbuf_truncate(&w->real, slash ? (size_t)(slash - w->real.data) : 0);
	} else {
		strbuf_putc(&w->real, '/');
		strbuf_puts(&w->real, name);
	}
	sym_at_fini(&w->at);
	w->at = *next;
	next->fd = -1;
	return strbuf_error(&w->real);
}

static int walk_step(struct sym_walk *w, const char *name)
{
	CLEANUP(sym_at_fini) struct sym_at next = SYM_AT_NONE;
	int rc;

	if (!*name || !strcmp(name, ".") || (!strcmp(name, "..") && !w->real.len))
		return 0;
	rc = may_enter(w);
	if (!rc)
		rc = sym_at_step(&w->at, name, &next);
	if (rc)
		return rc;
	return S_ISLNK(next.mode) ? follow(w, &next) : take(w, name, &next);
}

static void leave_rest(struct sym_walk *w, const char *name)
{
	strbuf_putc(&w->real, '/');
	strbuf_puts(&w->real, name);
	if (w->todo.len) {
		strbuf_putc(&w->real, '/');
		strbuf_puts(&w->real, strbuf_str(&w->todo));
	}
}

int sym_walk(struct sym_walk *w, const char *path)
{
	int rc = strlen(path) < PATH_MAX ? begin(w) : -ENAMETOOLONG;

	if (rc) {
		strbuf_puts(&w->real, path);
		return rc;
	}
	if (!S_ISDIR(w->at.mode))
		return 0;
	strbuf_puts(&w->todo, path + strspn(path, "/"));
	for (unsigned steps = 0; !rc && w->todo.len; steps++) {
		CLEANUP(free_ptr) char *name = next_component(w);

		if (!name)
			return -ENOMEM;
		rc = steps < MAX_STEPS ? walk_step(w, name) : -ELOOP;
		if (rc)
			leave_rest(w, name);
	}
	return strbuf_error(&w->real) || strbuf_error(&w->todo) ? -ENOMEM : rc;
}
