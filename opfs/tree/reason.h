/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_TREE_REASON_H
#define OPFS_TREE_REASON_H

#include "opfs/tree/ask.h"

/* -ENOENT, with why a value of a tag selects nothing and what would. */
int tree_no_value(const struct ask *a, const struct place *from,
		  const struct spec_tag *tag, const char *raw);
/* The same of a function below another one, at @from. */
int tree_no_callee(const struct ask *a, const struct place *from, const char *name);
/* -ENOENT, for a component below @from that is no file of it and goes on with none of the
 * images that its open value could be the beginning of. */
int tree_no_file(const struct ask *a, const struct place *from, const char *name);

/* The same for one below "more". */
int tree_no_more(const struct ask *a, const char *name);
/* The same for the first component of a path. */
int tree_no_word(const struct ask *a, const char *typed);

#endif
