/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_TREE_PRESENT_H
#define OPFS_TREE_PRESENT_H

#include "base/names.h"
#include "opfs/tree/ask.h"

/* Tags that say how to show samples. */

int tree_present(const struct ask *a, const struct place *from,
		 const struct spec_tag *tag, const char *raw, struct place *to);
/* The words that a tag takes; -ENOENT with an example if it takes anything. */
int tree_words(const struct ask *a, const struct spec_tag *tag, struct names *out);

#endif
