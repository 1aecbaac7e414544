/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_TREE_VALUE_H
#define OPFS_TREE_VALUE_H

#include "opfs/tree/ask.h"

/* Values of tags that select samples, which may span components. */

/**
 * tree_select_value - the place that a selecting tag's value makes of another
 * @from: its specification (but for a value of the same tag) is refined; has no base
 * @raw: the value as typed so far
 */
int tree_select_value(const struct ask *a, const struct place *from,
		      const struct spec_tag *tag, const char *raw, struct place *to);
/* One component more of the value that is open in @from. */
int tree_select_join(const struct ask *a, const struct place *from, const char *name,
		     struct place *to);
/* The open value of @from with one component more; the caller frees it. */
int tree_joined(const struct ask *a, const struct place *from, const char *name,
		char **out);
/* Does a value end in a comma?  Then what follows is another item. */
bool tree_ends_open(const char *raw);
/* Does the tag leave images out? */
bool tree_is_exclusion(const struct spec_tag *tag);
/* Does a value mean an image at all, selected or not?  @prefix: or its beginning. */
int tree_names_image(const struct ask *a, struct catalog *cat, const struct spec_value *v,
		     bool prefix, bool *found);
/* What a tag says of a file's process; NULL: it is not known, or not for who asks. */
const char *tree_task_text(const struct ask *a, const struct catalog *cat,
			   const struct catalog_file *f, const struct spec_tag *tag);

#endif
