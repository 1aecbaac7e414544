/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_TREE_ENTRIES_H
#define OPFS_TREE_ENTRIES_H

#include "opfs/tree/ask.h"

/* Reports that are directories. */

int tree_step_entries(const struct ask *a, const struct place *from, const char *name,
		      struct place *to);
/* -ENOENT if a directory in a report is not there (any more). */
int tree_has_entry(const struct ask *a, const struct place *p);
int tree_list_entries(const struct ask *a, const struct place *p, struct lister *l);

#endif
