/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_CALLS_H
#define OPFS_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "opfs/view.h"

/* The arcs of a profile from the side of one row: who called it, what it called. */
struct call {
	const struct profile_row *row; /* the other end; of @self the row itself */
	const uint64_t *samples;       /* one a class */
	bool self;                     /* no call: the row's own samples */
};

struct calls {
	const struct profile *p;
	const struct view_options *o;
	uint32_t *by_callee;          /* arcs, sorted by callee */
	size_t *first_in, *first_out; /* of each row: in @by_callee, in p->arcs */
	struct call *room;
};

/* @view: of a profile with PROFILE_ARCS; outlives @c.  Ends that it excludes are left out.
 * 0 or -ENOMEM. */
int calls_init(struct calls *c, const struct view *view);
void calls_fini(struct calls *c);

/* One list, until the next one is asked for. */
struct call_list {
	const struct call *calls;
	size_t nr;
};

/* By ascending samples of the first class. */
struct call_list calls_callers(struct calls *c, const struct profile_row *row);
/* By descending samples; the row itself is one of them. */
struct call_list calls_callees(struct calls *c, const struct profile_row *row);

#endif
