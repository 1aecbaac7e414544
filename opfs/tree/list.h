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

/* Which tags can still tell samples of a place apart: they have more than one value. */
struct axes {
	bool many[SPEC_NR_TAGS];
};
void tree_axes(const struct ask *a, const struct place *p, struct axes *out);
/* In a listed place: the tag that has a real directory there, NULL: none. */
const struct spec_tag *tree_nest(const struct place *p, const struct axes *axes);
/* Where a listed place has a link of that name, its target (heap), else NULL. */
char *tree_link(const struct ask *a, const struct place *p, const char *name);

#endif
