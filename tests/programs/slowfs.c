/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slowfs MOUNTPOINT DIR CONTROL: a read-only file system that shows DIR and takes its
 * time.  CONTROL is a file outside, read anew for each request and while one waits: "40"
 * answers after 40 ms, "never" not before it says otherwise.  Nothing is kept by the
 * kernel but pages that programs have mapped, so every look at a file is a request.
 * Requests wait in threads of their own; but what is looked for in one directory the
 * kernel asks one after the other, since libfuse 3.14 does not tell it that it need not.
 * Killing slowfs releases who waits, with an error.
 */
#define FUSE_USE_VERSION 312
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *dir, *control;

static void sleep_ms(long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

static long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* What CONTROL says: milliseconds, or -1 for never.  If it is gone: at once. */
static long delay_ms(void)
{
	char text[32] = "";
	int fd = open(control, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	return strncmp(text, "never", 5) ? strtol(text, NULL, 10) : -1;
}

static void take_time(void)
{
	long begun = now_ms(), ms;

	while ((ms = delay_ms()) < 0 || now_ms() - begun < ms) {
		long left = ms < 0 ? 10 : ms - (now_ms() - begun);

		sleep_ms(left < 10 ? left : 10);
	}
}

static int real(const char *path, char out[PATH_MAX])
{
	return snprintf(out, PATH_MAX, "%s%s", dir, path) < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static int get_attr(const char *path, struct stat *st, struct fuse_file_info *fi)
{
	char at[PATH_MAX];
	int rc = real(path, at);

	(void)fi;
	take_time();
	return rc ? rc : lstat(at, st) ? -errno : 0;
}

static int read_link(const char *path, char *out, size_t size)
{
	char at[PATH_MAX];
	int rc = real(path, at);
	ssize_t n;

	take_time();
	if (rc)
		return rc;
	n = readlink(at, out, size - 1);
	if (n < 0)
		return -errno;
	out[n] = '\0';
	return 0;
}

static int open_file(const char *path, struct fuse_file_info *fi)
{
	char at[PATH_MAX];
	int rc = real(path, at), fd;

	take_time();
	if (rc)
		return rc;
	fd = open(at, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	fi->fh = (uint64_t)fd;
	/* read() asks each time; opening it does not take a program's pages */
	fi->direct_io = 1;
	fi->keep_cache = 1;
	return 0;
}

static int read_file(const char *path, char *data, size_t len, off_t off,
		     struct fuse_file_info *fi)
{
	ssize_t n;

	(void)path;
	take_time();
	n = pread((int)fi->fh, data, len, off);
	return n < 0 ? -errno : (int)n;
}

static int release_file(const char *path, struct fuse_file_info *fi)
{
	(void)path;
	close((int)fi->fh);
	return 0;
}

static int read_dir(const char *path, void *buf, fuse_fill_dir_t fill, off_t off,
		    struct fuse_file_info *fi, enum fuse_readdir_flags flags)
{
	char at[PATH_MAX];
	int rc = real(path, at);
	struct dirent *e;
	DIR *d;

	(void)off;
	(void)fi;
	(void)flags;
	take_time();
	d = rc ? NULL : opendir(at);
	if (!d)
		return rc ? rc : -errno;
	while ((e = readdir(d)))
		fill(buf, e->d_name, NULL, 0, 0);
	closedir(d);
	return 0;
}

static void *init(struct fuse_conn_info *conn, struct fuse_config *cfg)
{
	cfg->attr_timeout = cfg->entry_timeout = cfg->negative_timeout = 0;
	cfg->use_ino = 1;
	conn->max_background = 1000;
	return NULL;
}

/* Threads that wait in requests would never be joined. */
static void end(int sig)
{
	(void)sig;
	_exit(0);
}

/* As fuse_main(), which in 3.14 does not take the number of threads. */
static int serve(struct fuse_args *args, const struct fuse_operations *ops,
		 const char *at)
{
	struct fuse_loop_config *cfg = fuse_loop_cfg_create();
	struct fuse *f = fuse_new(args, ops, sizeof(*ops), NULL);

	if (!cfg || !f || fuse_mount(f, at))
		return 1;
	fuse_loop_cfg_set_max_threads(cfg, 256);
	fuse_loop_cfg_set_idle_threads(cfg, 256);
	return fuse_loop_mt(f, cfg) != 0;
}

int main(int argc, char **argv)
{
	static const struct fuse_operations ops = {
		.getattr = get_attr,
		.readlink = read_link,
		.open = open_file,
		.read = read_file,
		.release = release_file,
		.readdir = read_dir,
		.init = init,
	};
	char *words[] = { argv[0], "-o", "ro,allow_other,fsname=slowfs", NULL };
	struct fuse_args args = FUSE_ARGS_INIT(3, words);

	if (argc != 4)
		return 2;
	dir = argv[2];
	control = argv[3];
	signal(SIGTERM, end);
	signal(SIGINT, end);
	return serve(&args, &ops, argv[1]);
}
