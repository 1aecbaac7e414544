/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_TREE_RESOLVE_H
#define OPFS_TREE_RESOLVE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/strbuf.h"

/*
 * Symbolic links in the paths of image: values.  What was found is remembered for a few
 * seconds.  Thread safe.
 */
struct resolver;

/* @mountpoint: NULL, or a directory that is never entered: the mount would wait for
 * itself. */
struct resolver *resolver_new(const char *mountpoint);
void resolver_free(struct resolver *r);

/**
 * resolver_path - a path with the symbolic links of the part of it that exists resolved
 * @path: absolute
 * @remembered_only: does not look at the file system
 * Returns 0; -ENOENT if there are no links in it (nothing is appended); -EAGAIN if it
 * would have to look; -ENOMEM.
 */
int resolver_path(struct resolver *r, const char *path, bool remembered_only,
		  struct strbuf *out);

#endif
