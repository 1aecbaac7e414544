/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_CALLS_H
#define OPFS_REPORT_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "opfs/report/view.h"

/* The arcs of a profile as one row sees them: who called it, and what it called. */
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

/*
 * @view: of a profile with PROFILE_ARCS; outlives @c.  Arcs to rows that it excludes are
 * left out.  0 or -ENOMEM.
 */
int calls_init(struct calls *c, const struct view *view);
void calls_fini(struct calls *c);

/* One list; valid until the next one is asked for. */
struct call_list {
	const struct call *calls;
	size_t nr;
};

/* By ascending samples of all classes. */
struct call_list calls_callers(struct calls *c, const struct profile_row *row);
/* By descending samples; the row itself is in the list. */
struct call_list calls_callees(struct calls *c, const struct profile_row *row);

#endif
