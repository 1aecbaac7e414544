/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_MOUNT_OPTIONS_H
#define OPFS_MOUNT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/err.h"

struct report_set;

/* Options of "opfs mount" and mount(8).  A zeroed one is empty. */
struct mount_options {
	const struct report_set *reports; /* the files that directories have */
	char *session_dir;                /* NULL: the default one */
	char *mountpoint;
	char *fsname; /* NULL: the session directory's path */
	bool allow_other;
	bool foreground;
	bool debug;
	size_t cache_bytes;
	size_t held_bytes; /* what open files may take */
	unsigned workers;
};
/* Defaults: 64 MiB of cache, 1 GiB for what is open, two workers for each processor but
 * at least eight. */
void mount_options_init(struct mount_options *o);
void mount_options_fini(struct mount_options *o);

/**
 * mount_options_add - parses what follows -o
 * @list: comma separated; "\," is a comma in a value
 * Words for mount(8) and fstab are ignored.  Returns 0, or -EINVAL with a
 * message that names the word that is wrong.
 */
int mount_options_add(struct mount_options *o, const char *list, struct err *err);

enum mount_words {
	MOUNT_WORDS_RUN,   /* go on */
	MOUNT_WORDS_DONE,  /* help was printed */
	MOUNT_WORDS_WRONG, /* usage told to stderr */
};
/**
 * mount_options_parse - reads a command line
 * argv[0] is the (sub)command; operands are [SESSION_DIR] MOUNTPOINT, options may stand
 * anywhere.
 */
enum mount_words mount_options_parse(struct mount_options *o, int argc, char **argv);

#endif
