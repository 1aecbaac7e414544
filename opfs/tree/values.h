/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_TREE_VALUES_H
#define OPFS_TREE_VALUES_H

#include "base/names.h"
#include "opfs/tree/ask.h"

/* Has a tag that selects any value in a place?  Of functions nobody knows before their
 * binaries are read: there are some wherever there are samples. */
bool tree_has_values(const struct ask *a, const struct place *p,
		     const struct spec_tag *tag);
/* Of how many images image: speaks there, each region of memory for itself; SIZE_MAX: no
 * memory.  Counted once for a selection. */
size_t tree_nr_apps(const struct place *p);
/* How the values of a tag in a place are listed.  -EAGAIN as tree_select(). */
int tree_value_names(const struct ask *a, const struct place *p,
		     const struct spec_tag *tag, struct names *out);
/* The next components of an open value. */
int tree_prefix_names(const struct ask *a, const struct place *p, struct names *out);

#endif
