/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_REC_DEFERRED_H
#define COLLECTOR_REC_DEFERRED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "collector/rec/rec.h"

/*
 * Records of processes that /proc is being asked about, or whose unwind tables are being
 * made, and of those they start meanwhile: kept in their order until the answer is there.
 */
struct coll_held; /* a record, with all that it points to */

struct coll_group {
	uint32_t tgid; /* who was asked about */
	struct coll_held *first, **end;
	VEC(uint32_t) others; /* whom it started */
	/* it executed another program since, or its number is another's: what /proc says
	 * now does not hold for the first records */
	bool changed;
	bool for_tables; /* it waits for unwind tables, not for /proc */
};

struct coll_deferred {
	struct map_u64 by_tgid; /* -> struct coll_group */
	size_t bytes;           /* of all records */
	uint64_t samples;       /* among them */
};

/* The group of a process; NULL: its records need not wait. */
struct coll_group *coll_deferred_find(const struct coll_deferred *d, uint32_t tgid);
/* Makes one for a process that has none; NULL if out of memory. */
struct coll_group *coll_deferred_begin(struct coll_deferred *d, uint32_t tgid);

/**
 * coll_deferred_add - keeps a copy of a record until the group's answer
 * @group: of the process, or of a fork's parent, whose child joins it
 * Returns 0; -ENOMEM, also if far too much is kept: end the group then.
 */
int coll_deferred_add(struct coll_deferred *d, struct coll_group *group,
		      const struct coll_rec *rec);

/**
 * coll_deferred_end - takes the group away, whose records are to be taken now
 * @group: freed
 * Returns the first record.
 */
struct coll_held *coll_deferred_end(struct coll_deferred *d, struct coll_group *group);
/* The record in it; coll_held_next() frees it and gives the one behind it. */
const struct coll_rec *coll_held_rec(const struct coll_held *h);
struct coll_held *coll_held_next(struct coll_held *h);

void coll_deferred_fini(struct coll_deferred *d);

#endif
