/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_SOURCE_DRIVER_FS_H
#define COLLECTOR_SOURCE_DRIVER_FS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"

/* The driver's files: oprofilefs.  What is set is put back at the end. */
struct coll_setting {
	char *path, *value; /* as it was before; heap */
};

struct coll_driver_fs {
	const char *dir;                 /* of the caller */
	int fd;                          /* of @dir; -1: none */
	bool mounted, made;              /* by us: the file system, the directory */
	VEC(struct coll_setting) before; /* in the order they were changed */
};

#define COLL_DRIVER_DIR "/dev/oprofile"

/**
 * coll_driver_fs_open - finds the driver's files, mounting them if need be
 * @dir: where; kept
 * Returns 0, -ENODEV if the driver is not loaded, -EPERM, or another -errno.
 */
int coll_driver_fs_open(struct coll_driver_fs *d, const char *dir, struct err *err);
/* Puts settings back, and unmounts what was mounted. */
void coll_driver_fs_fini(struct coll_driver_fs *d);

/* Whether there is such a file. */
bool coll_driver_fs_has(const struct coll_driver_fs *d, const char *path);
/* The number in a file.  0 or -errno. */
int coll_driver_fs_get(const struct coll_driver_fs *d, const char *path, uint64_t *value,
		       struct err *err);

/**
 * coll_driver_fs_set - writes a number, or a word
 * @path: below the directory, as "0/enabled"
 * What was there is put back at the end.  Returns 0, -EBUSY while something is being
 * sampled, -EINVAL for a value the driver does not take, or another -errno.
 */
int coll_driver_fs_set(struct coll_driver_fs *d, const char *path, uint64_t value,
		       struct err *err);
int coll_driver_fs_set_word(struct coll_driver_fs *d, const char *path, const char *word,
			    struct err *err);
/* Writes it without a thought of what was there. */
int coll_driver_fs_put(struct coll_driver_fs *d, const char *path, const char *word,
		       struct err *err);

#endif
