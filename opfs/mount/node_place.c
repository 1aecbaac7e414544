/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/mount/node_place.h"

#include <stdlib.h>

struct node_place *node_place_new(struct place *p)
{
	struct node_place *np = calloc(1, sizeof(*np));

	if (!np) {
		place_fini(p);
		return NULL;
	}
	np->refs = 1;
	np->p = *p;
	*p = (struct place){ 0 };
	return np;
}

struct node_place *node_place_get(struct node_place *np)
{
	__atomic_add_fetch(&np->refs, 1, __ATOMIC_RELAXED);
	return np;
}

void node_place_put(struct node_place *np)
{
	if (!np || __atomic_sub_fetch(&np->refs, 1, __ATOMIC_ACQ_REL))
		return;
	place_fini(&np->p);
	free(np);
}
