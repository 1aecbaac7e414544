/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_MOUNT_NODE_PLACE_H
#define OPFS_MOUNT_NODE_PLACE_H

#include "opfs/tree/tree.h"

/* A place that several may use: immutable, by reference count. */
struct node_place {
	int refs; /* atomic */
	struct place p;
};
/* Takes over @p, also on failure.  NULL: out of memory. */
struct node_place *node_place_new(struct place *p);
struct node_place *node_place_get(struct node_place *np);
void node_place_put(struct node_place *np);
/* For CLEANUP(). */
static inline void node_place_fini(struct node_place **np)
{
	node_place_put(*np);
}

#endif
