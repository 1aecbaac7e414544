/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/engine/budget.h"

#include "base/clock.h"
#include "collector/who/procfs.h"

static void begin_second(struct coll_budget *b, uint64_t second)
{
	map_u64_fini(&b->spent);
	map_u64_fini(&b->owners);
	b->second = second;
	b->all = 0;
}

/* Asked once a second of each process: it may have become another user's. */
static uint64_t owner_of(struct coll_budget *b, uint32_t tgid)
{
	uint64_t owner;

	if (map_u64_get(&b->owners, tgid, &owner))
		return owner;
	owner = coll_proc_owner(tgid);
	(void)map_u64_set(&b->owners, tgid, owner); /* else it is asked again */
	return owner;
}

bool coll_budget_spent(struct coll_budget *b, uint32_t tgid, uint64_t time_ns)
{
	uint64_t second = time_ns / CLOCK_NS_PER_S, owner, nr = 0;

	/* what waited for an answer is older */
	if (second > b->second)
		begin_second(b, second);
	if (!b->each || ++b->all <= b->each)
		return false;
	owner = owner_of(b, tgid);
	map_u64_get(&b->spent, owner, &nr);
	if (nr >= b->each)
		return true;
	return map_u64_set(&b->spent, owner, nr + 1);
}

void coll_budget_fini(struct coll_budget *b)
{
	begin_second(b, 0);
}
