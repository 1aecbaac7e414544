/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_PROFILE_FIND_H
#define OPFS_PROFILE_FIND_H

#include "opfs/profile/build.h"

/**
 * profile_find_binaries - fills b->where
 * @names: names of images, as profile_found() will be asked for them
 * Returns 0, -EINVAL for a value that names no directory, -EINTR, -ENOMEM.
 */
int profile_find_binaries(struct profile_build *b, const char *const *names, size_t nr,
			  const struct cred *cred);
void profile_where_fini(struct profile_where *w);
/* @path below root:, in the arena.  NULL if out of memory. */
const char *profile_below_root(struct profile_build *b, const char *path);

/**
 * profile_found - the file that image-path: has for a name
 * @name: a basename, or with @module a module's name
 * @why: a remark, in the arena, if there is not exactly one such file
 */
const char *profile_found(struct profile_build *b, const char *name, bool module,
			  const char **why);

#endif
