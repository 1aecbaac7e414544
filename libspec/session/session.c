/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libspec/session/session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/dirlist.h"
#include "base/file.h"

enum { MAX_DEPTH = 512 };

struct walk {
	struct strbuf path; /* of what is being visited */
	bool escaped;
	int (*visit)(void *ctx, struct spec_session_file *file);
	void *ctx;
	struct err *err;
};

static const char local[] = "oprofile_data";

/* NULL: not set */
static const char *of_environment(void)
{
	const char *dir = getenv("OPFS_SESSION_DIR");

	return dir && *dir ? dir : NULL;
}

enum spec_session_from spec_session_dir(const char *given, struct strbuf *out)
{
	const char *env = of_environment();
	char cwd[PATH_MAX];
	struct stat st;

	if (given || env) {
		strbuf_puts(out, given ? given : env);
		return given ? SPEC_SESSION_GIVEN : SPEC_SESSION_ENV;
	}
	if (stat(local, &st) || !S_ISDIR(st.st_mode)) {
		strbuf_puts(out, "/var/lib/oprofile");
		return SPEC_SESSION_SYSTEM;
	}
	if (getcwd(cwd, sizeof(cwd)))
		strbuf_printf(out, "%s/", strcmp(cwd, "/") != 0 ? cwd : "");
	strbuf_puts(out, local);
	return SPEC_SESSION_HERE;
}

const char *spec_session_dir_to_write(const char *given)
{
	const char *env = of_environment();

	return given ? given : env ? env : local;
}

bool spec_session_escaped(int session_fd)
{
	struct stat st;

	return !fstatat(session_fd, "images", &st, AT_SYMLINK_NOFOLLOW);
}

int spec_session_samples(int session_dir_fd)
{
	int fd = openat(session_dir_fd, "samples", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Where the link @fd, made by a trusted user, leads. */
static int follow(int samples_fd, int fd)
{
	char target[PATH_MAX];
	ssize_t len = readlinkat(fd, "", target, sizeof(target) - 1);

	if (len < 0)
		return -errno;
	target[len] = '\0';
	fd = openat(samples_fd, target, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

bool spec_session_trusts(const uid_t *trusted, uid_t owner)
{
	return !trusted || !owner || owner == *trusted;
}

/* Of a trusted user's link @st is the link's. */
static int look_at(int samples_fd, const char *name, const uid_t *trusted,
		   struct stat *st)
{
	CLEANUP(close_fd)
	int fd = file_open_within(samples_fd, name, O_PATH | O_NOFOLLOW);

	if (fd < 0)
		return fd;
	if (fstat(fd, st))
		return -errno;
	if (S_ISLNK(st->st_mode))
		return spec_session_trusts(trusted, st->st_uid) ? follow(samples_fd, fd)
								: -ELOOP;
	return S_ISDIR(st->st_mode) ? take_fd(&fd) : -ENOTDIR;
}

int spec_session_at(int samples_fd, const char *name, const uid_t *trusted)
{
	struct stat st;
	int fd;

	if (trusted)
		return look_at(samples_fd, name, trusted, &st);
	fd = openat(samples_fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int spec_session_open(int samples_fd, const char *name, const uid_t *trusted)
{
	CLEANUP(close_fd) int at = spec_session_at(samples_fd, name, trusted);
	int fd;

	if (at < 0)
		return at;
	fd = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int spec_session_stat(int samples_fd, const char *name, const uid_t *trusted,
		      struct stat *st)
{
	CLEANUP(close_fd) int fd = -1;

	if (!trusted) {
		if (fstatat(samples_fd, name, st, 0))
			return -errno;
		return S_ISDIR(st->st_mode) ? 0 : -ENOTDIR;
	}
	fd = look_at(samples_fd, name, trusted, st);
	if (fd < 0)
		return fd;
	return S_ISLNK(st->st_mode) && fstat(fd, st) ? -errno : 0;
}

bool spec_session_is_hidden(const char *name)
{
#define ROOT(entry, kind) entry,
	static const char *const entries[] = {
#include "libspec/session/root_list.h"
	};
#undef ROOT

	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		if (!strcmp(name, entries[i]))
			return true;
	return false;
}

int spec_session_names(int samples_fd, const uid_t *trusted, struct names *out,
		       struct err *err)
{
	CLEANUP(names_fini) struct names all = { 0 };
	size_t nr = 0;
	int rc = dirlist_read(samples_fd, &all);

	if (rc)
		return err_errno(err, rc, "samples");
	for (size_t i = 0; i < all.len; i++) {
		struct stat st;

		if (all.data[i][0] == '.' ||
		    spec_session_stat(samples_fd, all.data[i], trusted, &st))
			free(all.data[i]);
		else
			all.data[nr++] = all.data[i];
	}
	all.len = nr;
	*out = TAKE(all);
	return 0;
}

int spec_session_list(int session_dir_fd, const uid_t *trusted, struct names *out,
		      struct err *err)
{
	CLEANUP(close_fd) int fd = spec_session_samples(session_dir_fd);

	return fd < 0 ? err_errno(err, fd, "samples")
		      : spec_session_names(fd, trusted, out, err);
}

/* Tells the visitor why the file at the path is not shown. */
static int visit_bad(struct walk *w, const struct err *why)
{
	struct spec_session_file file = { .path = strbuf_str(&w->path), .bad = why };

	return w->visit(w->ctx, &file);
}

static int visit_unusable(struct walk *w, int code, const char *why)
{
	struct err bad = { 0 };

	if (code == -ENOMEM)
		return err_errno(w->err, code, "%s", strbuf_str(&w->path));
	err_set(&bad, code, "%.300s: %s", strbuf_str(&w->path), why);
	return visit_bad(w, &bad);
}

static int visit_file(struct walk *w, int dirfd, const char *leaf)
{
	CLEANUP(spec_name_fini) struct spec_name name = { 0 };
	struct spec_session_file file = {
		.path = strbuf_str(&w->path), .dirfd = dirfd, .leaf = leaf, .name = &name
	};
	struct err bad = { 0 };
	int rc = spec_name_parse(file.path, w->escaped, &name, &bad);

	if (rc == -ENOMEM)
		return err_set(w->err, rc, "%s", bad.msg);
	return rc ? visit_bad(w, &bad) : w->visit(w->ctx, &file);
}

static bool is_jit(const char *name)
{
	size_t len = strlen(name);

	return len > 3 && !strcmp(name + len - 3, ".jo");
}

static int walk_dir(struct walk *w, int dirfd, const char *name, int depth);

/* Its kind, as in a mode; 0: it has gone, or -errno. */
static int kind_of(int dirfd, const struct dirlist_entry *e)
{
	struct statx st;

	if (e->type == DT_REG || e->type == DT_DIR)
		return DTTOIF(e->type);
	/* what is mounted there is not asked: it may never answer */
	if (statx(dirfd, e->name, AT_SYMLINK_NOFOLLOW | AT_STATX_DONT_SYNC, STATX_TYPE,
		  &st))
		return errno == ENOENT ? 0 : -errno;
	return st.stx_mode & S_IFMT;
}

/* What an entry of @dirfd is, and what that asks for. */
static int walk_entry(struct walk *w, int dirfd, const struct dirlist_entry *e, int depth)
{
	int kind = kind_of(dirfd, e);

	if (kind <= 0)
		return kind ? visit_unusable(w, kind, strerror(-kind)) : 0;
	if (S_ISDIR(kind))
		return walk_dir(w, dirfd, e->name, depth);
	if (is_jit(e->name))
		return 0;
	if (S_ISREG(kind))
		return visit_file(w, dirfd, e->name);
	return visit_unusable(w, -EINVAL,
			      S_ISLNK(kind) ? "a symbolic link: not followed"
					    : "neither a file nor a directory");
}

static int walk_entries(struct walk *w, int fd, const struct dirlist *list, int depth)
{
	size_t len = w->path.len;
	int rc = 0;

	for (size_t i = 0; i < list->len && !rc; i++) {
		strbuf_putc(&w->path, '/');
		strbuf_puts(&w->path, list->data[i].name);
		if (strbuf_error(&w->path))
			return err_errno(w->err, -ENOMEM, "walking a session");
		rc = walk_entry(w, fd, &list->data[i], depth + 1);
		strbuf_truncate(&w->path, len);
	}
	return rc;
}

static int walk_dir(struct walk *w, int dirfd, const char *name, int depth)
{
	CLEANUP(dirlist_fini) struct dirlist list = { 0 };
	CLEANUP(close_fd) int fd = -1;
	int rc;

	if (depth > MAX_DEPTH)
		return visit_unusable(w, -ELOOP, "directories are nested too deep");
	fd = file_open_within(dirfd, name, O_RDONLY | O_DIRECTORY);
	rc = fd < 0 ? fd : dirlist_read_rest(fd, &list);
	if (rc == -ENOENT)
		return 0; /* removed meanwhile */
	if (rc == -EXDEV)
		return visit_unusable(w, rc, "another file system: not entered");
	return rc ? visit_unusable(w, rc, strerror(-rc))
		  : walk_entries(w, fd, &list, depth);
}

static void walk_fini(struct walk *w)
{
	strbuf_fini(&w->path);
}

int spec_session_walk(int session_fd, bool escaped,
		      int (*visit)(void *ctx, struct spec_session_file *file), void *ctx,
		      struct err *err)
{
	static const char *const tops[] = { "{kern}", "{root}" };
	CLEANUP(walk_fini)
	struct walk w = { .escaped = escaped, .visit = visit, .ctx = ctx, .err = err };
	struct stat st;
	int rc = 0;

	if (fstat(session_fd, &st))
		return err_errno(err, -errno, "session");
	for (size_t i = 0; i < sizeof(tops) / sizeof(*tops) && !rc; i++) {
		if (fstatat(session_fd, tops[i], &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISDIR(st.st_mode))
			continue;
		strbuf_reset(&w.path);
		strbuf_puts(&w.path, tops[i]);
		if (strbuf_error(&w.path))
			return err_errno(err, -ENOMEM, "session");
		rc = walk_dir(&w, session_fd, tops[i], 1);
	}
	return rc;
}
