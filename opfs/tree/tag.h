/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_TREE_TAG_H
#define OPFS_TREE_TAG_H

#include "opfs/tree/ask.h"

/* Values of tags of every kind. */

/**
 * tree_value - the place that a tag's value makes of another
 * @from: its specification (but for a value of the same tag) is refined
 * @raw: the value as typed so far
 */
int tree_value(const struct ask *a, const struct place *from, const struct spec_tag *tag,
	       const char *raw, struct place *to);
/* One component more of the value that is open in @from. */
int tree_value_join(const struct ask *a, const struct place *from, const char *name,
		    struct place *to);

#endif
