/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_SOURCE_ORDER_H
#define COLLECTOR_SOURCE_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "collector/source/ring.h"

/*
 * Records of several rings in the order of their times.  A round reads every ring; what
 * is older than the start of the round before is certain to have been seen in all rings
 * by now, whichever CPU wrote it, and is handed over; the rest stays in its ring.
 */
struct coll_order {
	struct coll_ring *rings; /* borrowed */
	size_t nr;
	uint64_t round_ns;            /* when the last round began */
	const struct coll_ring *from; /* of the record that is being handed over */
	uint64_t bad;                 /* stretches of a ring that could not be read */
};

/* Takes one record in place.  0, or -errno, which ends the round. */
typedef int (*coll_order_take)(void *ctx, const void *rec, size_t len);

/**
 * coll_order_round - hands over what is certain
 * @now_ns: CLOCK_MONOTONIC before the call; UINT64_MAX: everything is certain
 * Returns 1 if a ring is so full that the next round should come at once, 0, or what
 * @take returned.
 */
int coll_order_round(struct coll_order *o, uint64_t now_ns, coll_order_take take,
		     void *ctx);

#endif
