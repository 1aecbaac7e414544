/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What FUSE itself costs: N directories with one file "report" each, all the same bytes,
 * remembered by the kernel as a saved session is.   usage: fuse_null MOUNTPOINT N SIZE
 */
#define FUSE_USE_VERSION 314
#include <fuse3/fuse_lowlevel.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONG_TIME 3600.0
enum { FIRST_DIR = 2, THREADS = 8 };

static unsigned long nr;
static char *content;
static size_t size;

static struct stat attr_of(fuse_ino_t ino)
{
	struct stat st = { .st_ino = ino, .st_mode = S_IFDIR | 0555, .st_nlink = 2 };

	if (ino >= FIRST_DIR + nr) {
		st.st_mode = S_IFREG | 0444;
		st.st_nlink = 1;
		st.st_size = (off_t)size;
	}
	return st;
}

static void null_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fuse_entry_param e = { .attr_timeout = LONG_TIME,
				      .entry_timeout = LONG_TIME };
	unsigned long i;

	if (parent == FUSE_ROOT_ID && sscanf(name, "d%lu", &i) == 1 && i < nr)
		e.ino = FIRST_DIR + i;
	else if (parent >= FIRST_DIR && parent < FIRST_DIR + nr &&
		 !strcmp(name, "report"))
		e.ino = parent + nr;
	if (e.ino)
		e.attr = attr_of(e.ino);
	fuse_reply_entry(req, &e);
}

static void null_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct stat st = attr_of(ino);

	(void)fi;
	fuse_reply_attr(req, &st, LONG_TIME);
}

static void null_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	fi->keep_cache = 1;
	fuse_reply_open(req, fi);
}

static void null_read(fuse_req_t req, fuse_ino_t ino, size_t want, off_t off,
		      struct fuse_file_info *fi)
{
	size_t left = (size_t)off < size ? size - (size_t)off : 0;

	(void)ino, (void)fi;
	fuse_reply_buf(req, content + off, want < left ? want : left);
}

static void null_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	fi->keep_cache = 1;
	fi->cache_readdir = 1;
	fuse_reply_open(req, fi);
}

static void null_readdir(fuse_req_t req, fuse_ino_t ino, size_t room, off_t off,
			 struct fuse_file_info *fi)
{
	char *buf = malloc(room), name[32];
	size_t used = 0, need;

	(void)fi;
	for (unsigned long i = (unsigned long)off; buf && i < (ino == 1 ? nr : 1); i++) {
		struct stat st = attr_of(ino == 1 ? FIRST_DIR + i : ino + nr);

		snprintf(name, sizeof(name), ino == 1 ? "d%lu" : "report", i);
		need = fuse_add_direntry(req, buf + used, room - used, name, &st,
					 (off_t)i + 1);
		if (need > room - used)
			break;
		used += need;
	}
	fuse_reply_buf(req, buf, used);
	free(buf);
}

static const struct fuse_lowlevel_ops ops = {
	.lookup = null_lookup,
	.getattr = null_getattr,
	.open = null_open,
	.read = null_read,
	.opendir = null_opendir,
	.readdir = null_readdir,
};

int main(int argc, char **argv)
{
	char *words[] = { argv[0], (char *)"-o", (char *)"ro,default_permissions", NULL };
	struct fuse_args args = FUSE_ARGS_INIT(3, words);
	struct fuse_loop_config *config = fuse_loop_cfg_create();
	struct fuse_session *se;
	int rc;

	if (argc != 4) {
		fprintf(stderr, "usage: fuse_null MOUNTPOINT N SIZE\n");
		return 2;
	}
	nr = strtoul(argv[2], NULL, 10);
	size = strtoul(argv[3], NULL, 10);
	content = malloc(size + 1);
	se = fuse_session_new(&args, &ops, sizeof(ops), NULL);
	if (!content || !se || !config || fuse_session_mount(se, argv[1]))
		return 1;
	memset(content, 'x', size);
	fuse_set_signal_handlers(se);
	fuse_loop_cfg_set_max_threads(config, THREADS);
	fuse_loop_cfg_set_idle_threads(config, THREADS);
	rc = fuse_session_loop_mt(se, config);
	fuse_session_unmount(se);
	fuse_session_destroy(se);
	fuse_loop_cfg_destroy(config);
	fuse_opt_free_args(&args);
	free(content);
	return rc < 0;
}
