/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_TREE_BROWSE_H
#define OPFS_TREE_BROWSE_H

#include "base/names.h"
#include "opfs/tree/ask.h"

/* Directories of call trees: where they are in opfs/tree/browse_tree.h. */

/* Why there are none. */
#define TREE_NO_STACKS                                                                   \
	"no stacks were recorded of these samples: opcollect record -g does that"

/* The directory of what a value names: of a function, "main/parse", or of all that a list
 * or a pattern means, with what they called joined by name.  Errors of
 * tree_select_value(). */
int tree_browse_value(const struct ask *a, const struct place *from,
		      const struct spec_tag *tag, const char *raw, struct place *to);
/* From one function to another one.  -ENOENT without a message: none is called so. */
int tree_browse_child(const struct ask *a, const struct place *from, const char *name,
		      struct place *to);
/* The profile of a function's directory: its files are found there. */
int tree_browse_close(const struct ask *a, const struct place *from, struct place *to);
/* What @from was selected from. */
int tree_browse_base(const struct ask *a, const struct place *from, struct place *to);
/* Names of the functions right below the tag. */
int tree_browse_names(const struct ask *a, const struct place *p,
		      const struct spec_tag *tag, struct names *out);
/* Names of those below the function at @p. */
int tree_browse_below(const struct ask *a, const struct place *p, struct names *out);
int tree_list_browse(const struct ask *a, const struct place *p, struct lister *l);

#endif
