/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/who/jit_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/regular.h"
#include "collector/who/procfs.h"

void coll_jit_files_tell(struct coll_jit_files *f, const char *path, const char *why)
{
	strbuf_puts(&f->lines, "names of code made at run time: ");
	escape_text(&f->lines, path);
	strbuf_printf(&f->lines, ": %s\n", why);
}

static const char *refusal(const struct coll_jit_files *f, const struct stat *st)
{
	if (S_ISLNK(st->st_mode))
		return "refused: a symbolic link";
	if (!S_ISREG(st->st_mode))
		return "refused: not a regular file";
	if (st->st_uid &&
	    st->st_uid != (f->q->uid == COLL_UID_UNKNOWN ? geteuid() : f->q->uid))
		return "refused: it belongs to another user than the process";
	if ((uint64_t)st->st_mtime < f->q->not_before_s)
		return "refused: it is older than the process";
	return NULL;
}

/* @at: the file, of O_PATH.  A descriptor to read it, or -1, which was told. */
static int open_checked(struct coll_jit_files *f, int at, const char *path)
{
	struct stat st;
	const char *why;
	int fd;

	if (fstat(at, &st))
		return -1;
	why = refusal(f, &st);
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

/* Where its /tmp is: held, or as long as it lives its own, else ours. */
static int open_tmp(const struct coll_jit_files *f, bool *own)
{
	char path[64];
	int fd;

	*own = true;
	if (f->q->tmp_fd >= 0) {
		snprintf(path, sizeof(path), "/proc/%" PRIu32 "/fd/%" PRId32,
			 f->q->asking, f->q->tmp_fd);
		return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	}
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/root/tmp", f->q->tgid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	*own = false;
	return open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* A file's first bytes; borrowed from @out. */
static bool slurp(int fd, struct strbuf *out)
{
	size_t cap = 1 << 16, len = 0;
	char *data = NULL;

	for (;;) {
		char *more = realloc(data, cap);
		ssize_t n;

		if (!more)
			break;
		data = more;
		n = file_pread_all(fd, data + len, cap - len, (off_t)len);
		if (n < 0)
			break;
		len += (size_t)n;
		if (len < cap || cap == COLL_JIT_MAX_BYTES) {
			*out = (struct strbuf){ .data = data, .len = len, .cap = cap };
			return true;
		}
		cap *= 2;
	}
	free(data);
	return false;
}

static bool is_mapped(const struct coll_jit_files *f, int fd)
{
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && (!f->q->inode || st.st_ino == f->q->inode);
}

/*
 * The file that the process has mapped.  Its path is one of its mount namespace, and of
 * its root directory if that is not below ours.
 */
static int open_dump(const struct coll_jit_files *f, int tmp_fd)
{
	CLEANUP(close_fd) int fd = -1;
	struct stat st;
	char root[64];

	if (!strncmp(f->dump_path, "/tmp/", 5) && !strchr(f->dump_path + 5, '/'))
		fd = openat(tmp_fd, f->dump_path + 5, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (is_mapped(f, fd))
		return take_fd(&fd);
	close_fd(&fd);
	snprintf(root, sizeof(root), "/proc/%" PRIu32 "/root", f->q->tgid);
	fd = regular_open_at(root, f->dump_path, &st);
	if (is_mapped(f, fd))
		return take_fd(&fd);
	close_fd(&fd);
	fd = open(f->dump_path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	return is_mapped(f, fd) ? take_fd(&fd) : -1;
}

/* Its bytes; none if it is missing or refused.  Holes of a huge file are no lines. */
static void take(struct coll_jit_files *f, int at, const char *path, struct strbuf *out)
{
	CLEANUP(close_fd) int fd = open_checked(f, at, path);

	if (fd >= 0 && !slurp(fd, out))
		coll_jit_files_tell(f, path, "could not be read: out of memory");
}

static void take_map(struct coll_jit_files *f, int tmp_fd)
{
	CLEANUP(close_fd) int at = -1;
	char name[32];

	snprintf(name, sizeof(name), "perf-%" PRIu32 ".map", f->nspid);
	snprintf(f->map_path, sizeof(f->map_path), "/tmp/%s", name);
	at = openat(tmp_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (at >= 0)
		take(f, at, f->map_path, &f->map);
}

static void take_dump(struct coll_jit_files *f, int tmp_fd)
{
	CLEANUP(close_fd) int at = *f->dump_path ? open_dump(f, tmp_fd) : -1;

	if (!*f->dump_path)
		return;
	if (at < 0)
		coll_jit_files_tell(f, f->dump_path,
				    "not found any more, or another file by now");
	else
		take(f, at, f->dump_path, &f->dump);
}

void coll_jit_files_read(struct coll_jit_files *f, const struct coll_jit_fetch *q,
			 const char *dump_path)
{
	CLEANUP(close_fd) int tmp_fd = -1;
	bool own;

	*f = (struct coll_jit_files){ .q = q, .dump_path = dump_path };
	tmp_fd = open_tmp(f, &own);
	f->nspid = own ? q->nspid : q->tgid;
	take_map(f, tmp_fd);
	take_dump(f, tmp_fd);
}

void coll_jit_files_fini(struct coll_jit_files *f)
{
	strbuf_fini(&f->map);
	strbuf_fini(&f->dump);
	strbuf_fini(&f->lines);
}
