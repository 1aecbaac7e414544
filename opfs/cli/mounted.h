/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_CLI_MOUNTED_H
#define OPFS_CLI_MOUNTED_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The mounts that this process sees, of /proc/self/mountinfo. */
struct mounted {
	char *point; /* where; absolute */
	char *root; /* what of the file system is shown there: "/" but for mount --bind */
	char *source; /* of opfs: the session directory, or what -o fsname says */
	bool opfs;
	uid_t user; /* who made it */
};
struct mounted_list {
	struct mounted *data;
	size_t len, cap;
};
/* 0 or -errno.  *out is the caller's also then. */
int mounted_read(struct mounted_list *out);
void mounted_fini(struct mounted_list *list);
/* The opfs that is mounted at @path, absolute and without links; NULL: none. */
const struct mounted *mounted_at(const struct mounted_list *list, const char *path);
/**
 * mounted_within - the opfs that the absolute path leads into
 * Links before the mount point are followed; neither the mount nor what is below it is
 * asked, so this ends also where a mount is dead.  *rest: what follows the mount point.
 * Returns NULL if the path is in none.
 */
const struct mounted *mounted_within(const struct mounted_list *list, const char *path,
				     const char **rest);

#endif
