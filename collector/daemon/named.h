/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_DAEMON_NAMED_H
#define COLLECTOR_DAEMON_NAMED_H

#include "base/err.h"
#include "base/names.h"

/*
 * Sessions that somebody names, to rename or to remove them.  Whoever made them may have
 * called them as no session of ours is called: any name that the kernel allows.
 */

/* The session of @all that @typed is the name of, or what "opcollect list" shows of that:
 * control characters as %XX.  NULL: there is none. */
const char *coll_named_match(const struct names *all, const char *typed);

/**
 * coll_named_find - the same, seen to be a session
 * @dir: of @samples_fd, for messages
 * @name: receives it; of @all
 * Returns 0; -ENOENT: there is none, with the nearest name in the message; -EINVAL: it
 * holds neither samples nor figures.
 */
int coll_named_find(int samples_fd, const char *dir, const struct names *all,
		    const char *typed, const char **name, struct err *err);

#endif
