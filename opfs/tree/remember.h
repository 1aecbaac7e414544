/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_TREE_REMEMBER_H
#define OPFS_TREE_REMEMBER_H

#include "opfs/tree/ask.h"

/* Keeps for /status why @name (NULL: the file @from itself) cannot be read. */
void tree_remember(struct tree *t, const struct place *from, const char *name,
		   const struct viewer *v, const struct err *err);

#endif
