/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_TREE_LIST_H
#define OPFS_TREE_LIST_H

#include <stdbool.h>

#include "opfs/tree/ask.h"

/* What is in the directories of a profile. */

int tree_list_profile(const struct ask *a, const struct place *p, struct lister *l);
int tree_list_more(const struct ask *a, const struct place *p, struct lister *l);
/* The values of a tag, and what can follow the beginning of one. */
int tree_list_values(const struct ask *a, const struct place *p, struct lister *l);

/* The tag whose values are a directory in that of a profile, NULL: none. */
const struct spec_tag *tree_nest(const struct place *p);
/* Where there is a link of that name, its target (heap), else NULL. */
char *tree_link(const struct ask *a, const struct place *p, const char *name);

#endif
