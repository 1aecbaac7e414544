/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/who/jit_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/regular.h"
#include "collector/who/procfs.h"

void coll_jit_files_tell(struct coll_jit_files *f, const char *path, const char *why)
{
	strbuf_puts(&f->lines, COLL_JIT_NOTE);
	escape_text(&f->lines, path);
	strbuf_printf(&f->lines, ": %s\n", why);
}

/* What a file of those shows depends on who opens it. */
static bool is_of_kernel(int at)
{
	struct statfs fs;

	return fstatfs(at, &fs) || fs.f_type == PROC_SUPER_MAGIC ||
	       fs.f_type == SYSFS_MAGIC;
}

/*
 * A daemon writes as root before it becomes another user.  Of root's files only those
 * that this user may read: @dir, what they are in, may be a mount of the user's, of a
 * directory that is closed to it; NULL: the user has got hold of the file itself.
 */
static const char *refusal_of_roots(const struct coll_jit_files *f, const struct stat *st,
				    const struct stat *dir)
{
	if (!(st->st_mode & S_IROTH))
		return "refused: it is root's, and not for the process's user to read";
	if (dir && dir->st_uid != f->uid && !(dir->st_mode & S_IXOTH))
		return "refused: it is root's, where the process's user may not look";
	return NULL;
}

static const char *refusal(const struct coll_jit_files *f, int at, const struct stat *st,
			   const struct stat *dir)
{
	const char *why = NULL;

	if (S_ISLNK(st->st_mode))
		return "refused: a symbolic link";
	if (!S_ISREG(st->st_mode) || is_of_kernel(at))
		return "refused: not a regular file";
	if (st->st_uid && st->st_uid != f->uid)
		return "refused: it belongs to another user than the process";
	if (st->st_uid != f->uid)
		why = refusal_of_roots(f, st, dir);
	if (!why && (uint64_t)st->st_mtime < f->q->not_before_s)
		why = "refused: it is older than the process";
	return why;
}

/* Why one that is there could not even be looked at; NULL: it is not there. */
static const char *obstacle(int rc)
{
	switch (rc) {
	case -EXDEV:
		return "refused: something is mounted over it";
	case -ELOOP:
		return "refused: it leads through links that are not followed";
	case -ENOSYS:
	case -EPERM:
		return "refused: openat2() is not allowed here, and without it links "
		       "and mounts would be followed";
	default:
		return NULL;
	}
}

/* @at: the file, of O_PATH.  A descriptor to read it, or -1, which was told. */
static int open_checked(struct coll_jit_files *f, int at, const char *path,
			const struct stat *dir)
{
	struct stat st;
	const char *why;
	int fd;

	if (fstat(at, &st))
		return -1;
	why = refusal(f, at, &st, dir);
	f->found++;
	if (why) {
		coll_jit_files_tell(f, path, why);
		return -1;
	}
	fd = regular_reopen(at, &st);
	if (fd < 0)
		coll_jit_files_tell(f, path, strerror(-fd));
	else if (st.st_size > COLL_JIT_MAX_BYTES)
		coll_jit_files_tell(f, path, "only its first 64 MiB were read");
	return fd < 0 ? -1 : fd;
}

static int open_root(uint32_t tgid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/root", tgid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd >= 0 ? fd : errno == ENOENT ? -ESRCH : -EACCES;
}

int coll_jit_open_tmp(uint32_t tgid)
{
	CLEANUP(close_fd) int root = open_root(tgid);
	int fd;

	if (root < 0)
		return root;
	fd = file_open_resolved(root, "tmp", O_PATH | O_DIRECTORY,
				RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
	if (!obstacle(fd))
		return fd;
	fd = openat(root, "tmp", O_PATH | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Takes over @fd; -1 for a link, which is told. */
static int no_link(struct coll_jit_files *f, int fd)
{
	CLEANUP(close_fd) int owned = fd;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || !S_ISLNK(st.st_mode))
		return take_fd(&owned);
	coll_jit_files_tell(f, "/tmp", obstacle(-ELOOP));
	return -1;
}

/* Where its /tmp is: held, or as long as it lives its own, else ours; -1. */
static int open_tmp(struct coll_jit_files *f, bool *own)
{
	char path[64];
	int fd;

	*own = true;
	if (f->q->tmp_fd >= 0) {
		snprintf(path, sizeof(path), "/proc/%" PRIu32 "/fd/%" PRId32,
			 f->q->asking, f->q->tmp_fd);
		return no_link(f, open(path, O_PATH | O_CLOEXEC));
	}
	fd = coll_jit_open_tmp(f->q->tgid);
	if (fd >= 0)
		return no_link(f, fd);
	*own = false;
	return open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Whose files are taken.  The effective user, if it was held; else the real one. */
static uint32_t user_of(const struct coll_jit_fetch *q, bool own)
{
	uint32_t uid = q->uid != COLL_UID_UNKNOWN ? q->uid : coll_proc_uid(q->tgid);

	return uid == COLL_UID_UNKNOWN && !own ? geteuid() : uid;
}

/* What is in a /tmp itself, of O_PATH; -errno. */
static int open_in(int tmp_fd, const char *name)
{
	return file_open_resolved(tmp_fd, name, O_PATH | O_NOFOLLOW,
				  RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
					  RESOLVE_NO_XDEV);
}

/* A file's first bytes; none if they cannot be read. */
static bool slurp(int fd, struct strbuf *out)
{
	char piece[1 << 16];
	ssize_t n;

	do {
		size_t room = COLL_JIT_MAX_BYTES - out->len;

		n = file_read_all(fd, piece, room < sizeof(piece) ? room : sizeof(piece));
		if (n > 0)
			strbuf_add(out, piece, (size_t)n);
	} while (n > 0 && !strbuf_error(out));
	if (n >= 0 && !strbuf_error(out))
		return true;
	strbuf_fini(out);
	return false;
}

/* The mapping itself, if we may and it is still there: no path says what file it is, and
 * the device in /proc/PID/maps is not that of stat() on overlayfs and btrfs. */
struct mapping {
	const struct coll_jit_files *of;
	char path[96];
};

static bool is_dump(void *ctx, const struct coll_mmap *m)
{
	struct mapping *map = ctx;
	const struct coll_jit_files *f = map->of;

	if (m->inode != f->q->inode || strcmp(m->filename, f->dump_path) != 0)
		return false;
	snprintf(map->path, sizeof(map->path),
		 "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, f->q->tgid, m->start,
		 m->start + m->len);
	return true;
}

static int open_mapping(const struct coll_jit_files *f)
{
	struct mapping map = { .of = f };

	return coll_proc_find_mapping(f->q->tgid, is_dump, &map)
		       ? open(map.path, O_PATH | O_CLOEXEC)
		       : -1;
}

static bool is_mapped(const struct coll_jit_files *f, int fd)
{
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && st.st_ino == f->q->inode;
}

/*
 * By its path, which is one of the process's mount namespace, and of its root directory
 * if that is not below ours.  The kernel made it: there are no links in it.
 */
static int open_path(const struct coll_jit_files *f, int tmp_fd)
{
	const uint64_t resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
	const char *path = f->dump_path;
	CLEANUP(close_fd) int root = -1;
	CLEANUP(close_fd) int fd = -1;

	if (!strncmp(path, "/tmp/", 5) && !strchr(path + 5, '/'))
		fd = open_in(tmp_fd, path + 5);
	if (is_mapped(f, fd))
		return take_fd(&fd);
	close_fd(&fd);
	root = open_root(f->q->tgid);
	fd = file_open_resolved(root, path, O_PATH | O_NOFOLLOW,
				resolve | RESOLVE_IN_ROOT);
	if (is_mapped(f, fd))
		return take_fd(&fd);
	close_fd(&fd);
	fd = file_open_resolved(AT_FDCWD, path, O_PATH | O_NOFOLLOW, resolve);
	return fd < 0 || is_mapped(f, fd) ? take_fd(&fd) : -ENOENT;
}

/* The file that the process has mapped, of O_PATH; -errno. */
static int open_dump(const struct coll_jit_files *f, int tmp_fd)
{
	int fd = open_mapping(f);

	return fd >= 0 ? fd : open_path(f, tmp_fd);
}

/* Its bytes; none if it is missing or refused.  Holes of a huge file are no lines. */
static void take(struct coll_jit_files *f, int at, const char *path,
		 const struct stat *dir, struct strbuf *out)
{
	CLEANUP(close_fd) int fd = open_checked(f, at, path, dir);

	if (fd >= 0 && !slurp(fd, out))
		coll_jit_files_tell(f, path, "could not be read: out of memory");
}

static void take_map(struct coll_jit_files *f, int tmp_fd)
{
	CLEANUP(close_fd) int at = -1;
	struct stat dir;
	char name[32];

	snprintf(name, sizeof(name), "perf-%" PRIu32 ".map", f->nspid);
	snprintf(f->map_path, sizeof(f->map_path), "/tmp/%s", name);
	if (tmp_fd < 0 || fstat(tmp_fd, &dir))
		return;
	at = open_in(tmp_fd, name);
	if (at >= 0) {
		take(f, at, f->map_path, &dir, &f->map);
	} else if (obstacle(at) && !faccessat(tmp_fd, name, F_OK, AT_SYMLINK_NOFOLLOW)) {
		f->found++;
		coll_jit_files_tell(f, f->map_path, obstacle(at));
	}
}

static void take_dump(struct coll_jit_files *f, int tmp_fd)
{
	CLEANUP(close_fd) int at = *f->dump_path ? open_dump(f, tmp_fd) : -1;

	if (!*f->dump_path)
		return;
	if (at >= 0)
		take(f, at, f->dump_path, NULL, &f->dump);
	else
		coll_jit_files_tell(f, f->dump_path,
				    obstacle(at) ? obstacle(at)
						 : "not found any more, or another file "
						   "by now");
}

void coll_jit_files_read(struct coll_jit_files *f, const struct coll_jit_fetch *q,
			 const char *dump_path)
{
	CLEANUP(close_fd) int tmp_fd = -1;
	bool own;

	*f = (struct coll_jit_files){ .q = q, .dump_path = dump_path };
	tmp_fd = open_tmp(f, &own);
	f->nspid = own ? q->nspid : q->tgid;
	f->uid = user_of(q, own);
	take_map(f, tmp_fd);
	take_dump(f, tmp_fd);
}

void coll_jit_files_fini(struct coll_jit_files *f)
{
	strbuf_fini(&f->map);
	strbuf_fini(&f->dump);
	strbuf_fini(&f->lines);
}
