/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "libsym/open.h"
#include "opfs/tar_impl.h"

/*
 * Files are not held open, there may be very many: each read opens its own again, and
 * looks whether it is the one that was measured.
 */

static const char elf_magic[4] = "\177ELF";

static int open_file(int dirfd, const char *path, struct stat *st, struct err *err)
{
	CLEANUP(close_fd) int fd = -1;

	if (dirfd == AT_FDCWD) {
		fd = sym_open(path, NULL, err);
		if (fd < 0)
			return fd;
	} else {
		fd = file_open_within(dirfd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd < 0)
			return err_errno(err, fd, "%.300s", path);
	}
	if (fstat(fd, st))
		return err_errno(err, -errno, "%.300s", path);
	if (!S_ISREG(st->st_mode))
		return err_set(err, -EINVAL, "%.300s: is not a regular file", path);
	return take_fd(&fd);
}

/*
 * Nobody hands out by mistake what a hostile binary names as its source: root's archive
 * has only what everybody may read.
 */
static bool is_secret(const struct stat *st)
{
	return !(st->st_mode & S_IROTH) && (st->st_uid != geteuid() || !geteuid());
}

static int check(int fd, const char *path, const struct stat *st,
		 const struct tar_want *want, struct err *err)
{
	char magic[sizeof(elf_magic)] = { 0 };
	bool elf;

	if ((want->dev || want->ino) &&
	    (want->dev != st->st_dev || want->ino != st->st_ino))
		return err_set(err, -ESTALE, "%.300s: was replaced just now", path);
	if (want->max_size && (uint64_t)st->st_size > want->max_size)
		return err_set(err, -EFBIG, "%.300s: is too large", path);
	if (!want->elf && !want->text)
		return 0;
	elf = file_pread_all(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	      !memcmp(magic, elf_magic, sizeof(magic));
	if (want->elf && !elf)
		return err_set(err, -EINVAL, "%.300s: is no ELF file", path);
	if (want->text && (elf || is_secret(st)))
		return err_set(err, -EACCES, "%.300s: %s", path,
			       elf ? "is a binary, not a source"
				   : "not everybody may read it, which an archive would "
				     "let them");
	return 0;
}

int tar_add_file(struct tar *t, const struct tar_info *info, int dirfd, const char *path,
		 const struct tar_want *want, struct err *err)
{
	struct member m = { .kind = MEMBER_FILE, .fd = dirfd, .grows = want->grows };
	CLEANUP(close_fd) int fd = -1;
	struct stat st;
	int rc;

	fd = open_file(dirfd, path, &st, err);
	if (fd < 0)
		return fd;
	rc = check(fd, path, &st, want, err);
	if (rc)
		return rc;
	m.size = (uint64_t)st.st_size;
	m.dev = st.st_dev;
	m.ino = st.st_ino;
	m.mtim = st.st_mtim;
	m.path = arena_strdup(&t->arena, path);
	return m.path ? tar_add_member(t, info, &m, err)
		      : err_set(err, -ENOMEM, "out of memory");
}

static bool is_same(const struct member *m, const struct stat *st)
{
	if (m->dev != st->st_dev || m->ino != st->st_ino)
		return false;
	if (m->grows)
		return (uint64_t)st->st_size >= m->size;
	return (uint64_t)st->st_size == m->size && m->mtim.tv_sec == st->st_mtim.tv_sec &&
	       m->mtim.tv_nsec == st->st_mtim.tv_nsec;
}

bool tar_file_fresh(const struct member *m)
{
	struct stat st;

	return !fstatat(m->fd, m->path, &st, 0) && is_same(m, &st);
}

int tar_file_read(const struct member *m, char *buf, size_t len, uint64_t off)
{
	CLEANUP(close_fd) int fd = -1;
	struct err err = { 0 };
	struct stat st;
	ssize_t got;

	fd = open_file(m->fd, m->path, &st, &err);
	if (fd < 0) {
		log_err("archive.tar: %s", err.msg);
		return -EIO;
	}
	got = file_pread_all(fd, buf, len, (off_t)off);
	if (got == (ssize_t)len && !fstat(fd, &st) && is_same(m, &st))
		return 0;
	log_err("archive.tar: %s: is not any more what it was when the archive was "
		"opened: "
		"read the archive again",
		m->path);
	return -EIO;
}
