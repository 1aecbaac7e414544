/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_SESSION_CATALOG_LOAD_H
#define OPFS_SESSION_CATALOG_LOAD_H

#include <sys/types.h>

#include "base/err.h"
#include "base/viewer.h"
#include "opfs/session/catalog.h"
#include "opfs/session/given_up.h"

/* Where sessions are, and whose are read without bounds. */
struct catalog_source {
	int session_dir_fd; /* sessions are samples/NAME below it */
	/* Where several users read, that of the mount, see spec_session_at(): reading a
	 * session of another user than this one and root is bounded.  Else NULL. */
	const uid_t *trusted;
	struct given_up *given_up; /* sessions that were beyond that; with @trusted */
};

/**
 * catalog_load - reads what a set of sessions holds
 * @names: sessions to sum; one that is called "current" and absent is empty
 * @parts: NULL, or for each session NULL or a catalog of it alone, to borrow from instead
 *	of reading it again
 * A damaged file is left out and listed in @bad, and of several sessions one that is too
 * large.
 * Returns 0, -ENOENT for another session that is absent, -EINTR if @v has gone; -EFBIG: a
 * session alone is too large, or takes too long.
 */
int catalog_load(const struct catalog_source *from, char *const *names, size_t nr,
		 struct catalog *const *parts, const struct viewer *v,
		 struct catalog **out, struct err *err);

/* Says why there is no session @name to read: @rc of spec_session_at().  Returns @rc. */
int catalog_no_session(const char *name, int rc, struct err *err);

/* A catalog of one sample file anywhere.  Its path must contain {root} or {kern}, where
 * its name begins: else -EINVAL.  -EBADMSG for a damaged file. */
int catalog_load_file(const char *path, struct catalog **out, struct err *err);

#endif
