/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_TREE_STEP_H
#define OPFS_TREE_STEP_H

#include "opfs/tree/ask.h"

/* A component below a session, in a directory of each kind. */
int tree_step_browse(const struct ask *a, const struct place *from, const char *name,
		     struct place *to);
int tree_step_profile(const struct ask *a, const struct place *from, const char *name,
		      struct place *to);
/* One of the values of a tag. */
int tree_step_values(const struct ask *a, const struct place *from, const char *name,
		     struct place *to);
/* Another component of a value that is the beginning of an image's path. */
int tree_step_prefix(const struct ask *a, const struct place *from, const char *name,
		     struct place *to);
int tree_step_more(const struct ask *a, const struct place *from, const char *name,
		   struct place *to);

#endif
