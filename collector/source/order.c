/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/source/order.h"

/* Few rings: the earliest is found by looking at all of them. */
static struct coll_ring *earliest(struct coll_order *o, uint64_t *next_ns)
{
	struct coll_ring *first = NULL;
	bool bad = false;

	*next_ns = UINT64_MAX;
	for (size_t i = 0; i < o->nr; i++) {
		struct coll_ring *r = &o->rings[i];

		if (!coll_ring_peek(r, &bad))
			continue;
		if (!first) {
			first = r;
		} else if (r->rec_time < first->rec_time) {
			*next_ns = first->rec_time;
			first = r;
		} else if (r->rec_time < *next_ns) {
			*next_ns = r->rec_time;
		}
	}
	o->bad += bad;
	return first;
}

/* Hands over one ring's records up to @limit_ns. */
static int take_run(struct coll_order *o, struct coll_ring *r, uint64_t limit_ns,
		    coll_order_take take, void *ctx)
{
	bool bad = false;
	int rc = 0;

	o->from = r;
	while (!rc && coll_ring_peek(r, &bad) && r->rec_time <= limit_ns) {
		rc = take(ctx, r->rec, r->rec_len);
		coll_ring_next(r);
	}
	o->bad += bad;
	return rc;
}

int coll_order_round(struct coll_order *o, uint64_t now_ns, coll_order_take take,
		     void *ctx)
{
	uint64_t bound_ns = now_ns == UINT64_MAX ? now_ns : o->round_ns;
	uint64_t next_ns;
	struct coll_ring *r;
	int rc = 0, full = 0;

	o->round_ns = now_ns;
	for (size_t i = 0; i < o->nr; i++)
		coll_ring_refresh(&o->rings[i]);
	while (!rc && (r = earliest(o, &next_ns)) && r->rec_time <= bound_ns)
		rc = take_run(o, r, next_ns < bound_ns ? next_ns : bound_ns, take, ctx);
	for (size_t i = 0; i < o->nr; i++) {
		coll_ring_release(&o->rings[i]);
		full |= coll_ring_backlog(&o->rings[i]) > o->rings[i].size / 4;
	}
	return rc ? rc : full;
}
