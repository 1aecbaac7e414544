/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_TREE_ROOT_TEXT_H
#define OPFS_TREE_ROOT_TEXT_H

#include "base/text.h"
#include "opfs/tree/ask.h"

/* README and status of the root. */
int tree_root_text(const struct ask *a, const struct place *p, struct text **out);

#endif
