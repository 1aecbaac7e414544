/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * failfs MOUNTPOINT DIRECTORY SWITCH: shows DIRECTORY.  While the file SWITCH exists, and
 * holds ENOSPC or EIO, what programs write is taken as ever, but what the kernel writes
 * back of their mappings is refused with that: so does a disk that is full or broken
 * below its file system.  The kernel keeps pages in memory as it does for a disk;
 * DIRECTORY holds what was taken.
 */
#define FUSE_USE_VERSION 35
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static int dir;
static const char *sw;

static int result(long rc)
{
	return rc < 0 ? -errno : (int)rc;
}

/* Paths are given from the mount point, with a slash; none is a file that was removed. */
static const char *in(const char *path)
{
	return !path ? "" : path[1] ? path + 1 : ".";
}

static int refusal(void)
{
	char text[16] = "";
	int fd = open(sw, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	return strncmp(text, "ENOSPC", 6) ? EIO : ENOSPC;
}

static int get_attr(const char *path, struct stat *st, struct fuse_file_info *fi)
{
	if (fi)
		return result(fstat((int)fi->fh, st));
	return result(fstatat(dir, in(path), st, AT_SYMLINK_NOFOLLOW));
}

static int read_dir(const char *path, void *buf, fuse_fill_dir_t fill, off_t off,
		    struct fuse_file_info *fi, enum fuse_readdir_flags flags)
{
	int fd = openat(dir, in(path), O_RDONLY | O_DIRECTORY);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *de;

	(void)off;
	(void)fi;
	(void)flags;
	if (!d)
		return -errno;
	while ((de = readdir(d)))
		fill(buf, de->d_name, NULL, 0, 0);
	closedir(d);
	return 0;
}

static int do_mkdir(const char *path, mode_t mode)
{
	return result(mkdirat(dir, in(path), mode));
}

static int do_unlink(const char *path)
{
	return result(unlinkat(dir, in(path), 0));
}

static int do_rmdir(const char *path)
{
	return result(unlinkat(dir, in(path), AT_REMOVEDIR));
}

static int do_rename(const char *from, const char *to, unsigned flags)
{
	return result(renameat2(dir, in(from), dir, in(to), flags));
}

static int do_link(const char *from, const char *to)
{
	return result(linkat(dir, in(from), dir, in(to), 0));
}

static int do_chmod(const char *path, mode_t mode, struct fuse_file_info *fi)
{
	return result(fi ? fchmod((int)fi->fh, mode) : fchmodat(dir, in(path), mode, 0));
}

static int do_chown(const char *path, uid_t uid, gid_t gid, struct fuse_file_info *fi)
{
	return result(fi ? fchown((int)fi->fh, uid, gid) :
			   fchownat(dir, in(path), uid, gid, AT_SYMLINK_NOFOLLOW));
}

static int do_utimens(const char *path, const struct timespec ts[2],
		      struct fuse_file_info *fi)
{
	return result(fi ? futimens((int)fi->fh, ts) :
			   utimensat(dir, in(path), ts, AT_SYMLINK_NOFOLLOW));
}

static int do_truncate(const char *path, off_t len, struct fuse_file_info *fi)
{
	int fd, rc;

	if (fi)
		return result(ftruncate((int)fi->fh, len));
	fd = openat(dir, in(path), O_WRONLY);
	rc = fd < 0 ? -errno : result(ftruncate(fd, len));
	if (fd >= 0)
		close(fd);
	return rc;
}

static int do_create(const char *path, mode_t mode, struct fuse_file_info *fi)
{
	/* the kernel reads where only a part of a page is written */
	int fd = openat(dir, in(path),
			O_RDWR | O_CREAT | (fi->flags & (O_EXCL | O_TRUNC)), mode);

	fi->fh = (uint64_t)fd;
	fi->keep_cache = 1;
	return fd < 0 ? -errno : 0;
}

static int do_open(const char *path, struct fuse_file_info *fi)
{
	int fd = openat(dir, in(path), fi->flags & ~(O_APPEND | O_NOFOLLOW | O_CREAT));

	fi->fh = (uint64_t)fd;
	fi->keep_cache = 1;
	return fd < 0 ? -errno : 0;
}

static int do_release(const char *path, struct fuse_file_info *fi)
{
	(void)path;
	return result(close((int)fi->fh));
}

static int do_read(const char *path, char *data, size_t len, off_t off,
		   struct fuse_file_info *fi)
{
	(void)path;
	return result(pread((int)fi->fh, data, len, off));
}

static int do_write(const char *path, const char *data, size_t len, off_t off,
		    struct fuse_file_info *fi)
{
	int rc = fi->writepage ? refusal() : 0;

	(void)path;
	return rc ? -rc : result(pwrite((int)fi->fh, data, len, off));
}

static int do_fsync(const char *path, int only_data, struct fuse_file_info *fi)
{
	(void)path;
	(void)only_data;
	(void)fi;
	return 0;
}

static int do_fallocate(const char *path, int mode, off_t off, off_t len,
			struct fuse_file_info *fi)
{
	(void)path;
	return result(fallocate((int)fi->fh, mode, off, len));
}

static int do_statfs(const char *path, struct statvfs *st)
{
	(void)path;
	return result(fstatvfs(dir, st));
}

static void *init(struct fuse_conn_info *conn, struct fuse_config *cfg)
{
	(void)conn;
	cfg->use_ino = cfg->hard_remove = 1;
	return NULL;
}

int main(int argc, char **argv)
{
	static const struct fuse_operations ops = {
		.getattr = get_attr,   .readdir = read_dir,	.mkdir = do_mkdir,
		.unlink = do_unlink,   .rmdir = do_rmdir,	.rename = do_rename,
		.link = do_link,       .chmod = do_chmod,	.chown = do_chown,
		.utimens = do_utimens, .truncate = do_truncate, .create = do_create,
		.open = do_open,       .release = do_release,	.read = do_read,
		.write = do_write,     .fsync = do_fsync,	.fallocate = do_fallocate,
		.statfs = do_statfs,   .init = init
	};
	char *args[] = { argv[0], argv[1], "-f", NULL };

	if (argc != 4)
		return 2;
	dir = open(argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	sw = argv[3];
	umask(0);
	return dir < 0 ? 1 : fuse_main(3, args, &ops, NULL);
}
