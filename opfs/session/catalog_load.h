/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_SESSION_CATALOG_LOAD_H
#define OPFS_SESSION_CATALOG_LOAD_H

#include "base/err.h"
#include "base/viewer.h"
#include "opfs/session/catalog.h"

/**
 * catalog_load - reads what a set of sessions holds
 * @session_dir_fd: the session directory; sessions are samples/NAME below it
 * @names: sessions to sum; one that is called "current" and absent is empty
 * @parts: NULL, or for each session NULL or a catalog of it alone, to borrow from instead
 *	of reading it again
 * A damaged file is left out and listed in @bad.
 * Returns 0, -ENOENT for another session that is absent, -EINTR if @v has gone.
 */
int catalog_load(int session_dir_fd, char *const *names, size_t nr,
		 struct catalog *const *parts, const struct viewer *v,
		 struct catalog **out, struct err *err);

/* A catalog of one sample file anywhere.  Its path must contain {root} or {kern}, where
 * its name begins: else -EINVAL.  -EBADMSG for a damaged file. */
int catalog_load_file(const char *path, struct catalog **out, struct err *err);

#endif
