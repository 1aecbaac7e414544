/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_TREE_ACCESS_H
#define OPFS_TREE_ACCESS_H

#include <stdbool.h>

#include "opfs/session/catalog.h"
#include "opfs/tree/tree.h"

/* Which user may see what in a mount that others may read. */

struct ask;

/* May @v list (S_IROTH) or search (S_IXOTH) the directory of sessions?  Who may not
 * search it does not learn which there are. */
bool tree_may_use_samples(const struct tree *t, const struct viewer *v, mode_t want);
/* May @v see the session?  Yes, unless the mount is shared and its modes say no. */
bool tree_may_see(const struct tree *t, const char *session, const struct viewer *v);
/* May everybody see the session, as its name is stored? */
bool tree_all_may_see(const struct tree *t, const char *session);
/* tree_may_see() of the directory that was opened. */
bool tree_may_see_opened(const struct tree *t, const struct catalog_dir *d,
			 const struct viewer *v);
/* Does the user who mounted ask? */
bool tree_is_owner(const struct ask *a);
/* -EACCES to all but the user who mounted; @what: the tag that names host paths. */
int tree_only_owner(const struct ask *a, const char *what);

#endif
