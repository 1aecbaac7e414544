/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_TREE_DIFF_H
#define OPFS_TREE_DIFF_H

#include "opfs/tree/ask.h"

int tree_diff(const struct ask *a, const struct place *from, const char *raw,
	      struct place *to);
/* Does a value of the tag select in the older side alone?  That of a call tree does if
 * the newer side has one. */
bool tree_is_base_tag(const struct place *from, const struct spec_tag *tag);
/* May the tag still be given, on the side that it selects in? */
bool tree_may_give(const struct place *from, const struct spec_tag *tag);
/* As tree_value() and tree_value_join(), behind diff:. */
int tree_base_value(const struct ask *a, const struct place *from,
		    const struct spec_tag *tag, const char *raw, struct place *to);
int tree_base_join(const struct ask *a, const struct place *from, const char *name,
		   struct place *to);
/* The same of call trees that neither side has yet, and which both get; one of them may
 * have no such samples. */
int tree_both_value(const struct ask *a, const struct place *from,
		    const struct spec_tag *tag, const char *raw, struct place *to);
int tree_both_join(const struct ask *a, const struct place *from, const char *name,
		   struct place *to);
/* Gives @to, the newer side of @from with a value of @tag, the older side with that. */
int tree_both_follow(const struct ask *a, const struct place *from,
		     const struct spec_tag *tag, struct place *to);
/* The older side, as the place in which a value of @tag is looked up. */
int tree_base_side(const struct ask *a, const struct place *p, const struct spec_tag *tag,
		   struct place *out);

#endif
