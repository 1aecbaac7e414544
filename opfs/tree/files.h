/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_TREE_FILES_H
#define OPFS_TREE_FILES_H

#include "opfs/tree/ask.h"

/* Which files there are in a place, and which the tags of its path allow. */

/* 0, or -ENOENT with where the file is: some are of sessions, of symbols or of calls. */
int tree_is_here(const struct ask *a, const struct place *p, const struct report *r);
/* Is it listed in more: instead of the directory itself? */
bool tree_in_more(const struct place *p, const struct report *r);
/* tree_check() of a file that @p has, or is. */
int tree_may_make(const struct ask *a, const struct place *p, const struct report *r);

#endif
