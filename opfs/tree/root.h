/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_TREE_ROOT_H
#define OPFS_TREE_ROOT_H

#include "opfs/tree/ask.h"

/* The root: sessions, and files about all of them. */

/* A component; @from is the root. */
int tree_step_root(const struct ask *a, const struct place *from, const char *name,
		   struct place *to);
int tree_list_root(const struct ask *a, const struct place *p, struct lister *l);

#endif
