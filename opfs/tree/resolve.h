/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_TREE_RESOLVE_H
#define OPFS_TREE_RESOLVE_H

#include "base/err.h"
#include "base/strbuf.h"
#include "base/viewer.h"
#include "libsym/server/server.h"

/*
 * Symbolic links in the paths of image: values, as the user who asks sees them: a helper
 * follows them with his rights.  What was found is remembered for a few seconds.  Thread
 * safe.
 */
struct resolver;

/* @server: borrowed. */
struct resolver *resolver_new(struct sym_server *server);
void resolver_free(struct resolver *r);

/**
 * resolver_path - a path with the symbolic links of the part of it that exists resolved
 * @path: absolute
 * @v: who asks; a quick one is told what is remembered
 * Returns 0; -ENOENT if there are no links in it (nothing is appended); -EAGAIN if a
 * helper would have to look; what sym_server_resolve() gave.
 */
int resolver_path(struct resolver *r, const char *path, const struct viewer *v,
		  struct strbuf *out, struct err *err);

#endif
