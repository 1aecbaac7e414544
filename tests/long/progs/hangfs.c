/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hangfs MOUNTPOINT FILE SWITCH: a file system with one file, "file", whose content is
 * FILE's.  While the file SWITCH exists nothing but reading is answered, as by a server
 * that went away.
 */
#define FUSE_USE_VERSION 35
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *file, *hang;

static void answer_later(void)
{
	while (!access(hang, F_OK))
		usleep(10000);
}

static int get_attr(const char *path, struct stat *st, struct fuse_file_info *fi)
{
	(void)fi;
	answer_later();
	memset(st, 0, sizeof(*st));
	st->st_mode = S_IFDIR | 0755;
	if (!strcmp(path, "/"))
		return 0;
	return strcmp(path, "/file") ? -ENOENT : stat(file, st) ? -errno : 0;
}

static int do_open(const char *path, struct fuse_file_info *fi)
{
	(void)path;
	answer_later();
	fi->fh = (uint64_t)open(file, O_RDONLY);
	return 0;
}

static int do_read(const char *path, char *data, size_t len, off_t off,
		   struct fuse_file_info *fi)
{
	ssize_t n = pread((int)fi->fh, data, len, off);

	(void)path;
	return n < 0 ? -errno : (int)n;
}

static void *init(struct fuse_conn_info *conn, struct fuse_config *cfg)
{
	(void)conn;
	cfg->attr_timeout = cfg->entry_timeout = 0;
	return NULL;
}

int main(int argc, char **argv)
{
	static const struct fuse_operations ops = {
		.getattr = get_attr, .open = do_open, .read = do_read, .init = init
	};
	char *args[] = { argv[0], "-f", argc > 1 ? argv[1] : "", NULL };

	if (argc != 4)
		return 2;
	file = argv[2];
	hang = argv[3];
	return fuse_main(3, args, &ops, NULL);
}
