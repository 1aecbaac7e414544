/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/who/numbers.h"

#include "base/cleanup.h"
#include "libspec/name/pid.h"
#include "libspec/session/tasks.h"

/* Starts some milliseconds apart are the same. */
enum { SAME_MS = 50, NS_PER_MS = 1000000 };

static bool is_same(uint64_t one_ms, uint64_t other_ms)
{
	uint64_t apart = one_ms > other_ms ? one_ms - other_ms : other_ms - one_ms;

	return !one_ms || !other_ms || apart <= SAME_MS;
}

bool coll_same_start(uint64_t one_ns, uint64_t other_ns)
{
	return is_same(one_ns / NS_PER_MS, other_ns / NS_PER_MS);
}

/*
 * Who had a number last: when that process began, in milliseconds, and how many had the
 * number before it.
 */
enum { USES_SHIFT = 54 };

uint32_t coll_numbers_use(struct coll_numbers *n, uint32_t number, uint64_t start_ns)
{
	const uint64_t mask = (1ull << USES_SHIFT) - 1;
	uint64_t start_ms = start_ns / NS_PER_MS & mask, last, uses = 0;

	if (map_u64_get(&n->last, number, &last)) {
		uses = last >> USES_SHIFT;
		if (!is_same(start_ms, last & mask))
			uses = (uses + 1) % SPEC_PID_MAX_USES;
		else if (!start_ms)
			start_ms = last & mask;
	}
	/* out of memory: the next one may be taken for this one */
	map_u64_set(&n->last, number, uses << USES_SHIFT | start_ms);
	return spec_pid_stored(number, (uint32_t)uses);
}

void coll_numbers_read(struct coll_numbers *n, int session_fd)
{
	CLEANUP(spec_tasks_fini) struct spec_tasks table = { 0 };

	if (session_fd < 0 || spec_tasks_read(session_fd, &table, NULL))
		return;
	for (size_t i = 0; i < table.nr; i++) {
		const struct spec_task *row = &table.rows[i];
		uint64_t uses = spec_pid_uses(row->tgid);

		/* threads have starts of their own */
		if (row->tid == row->tgid)
			map_u64_set(&n->last, spec_pid_number(row->tgid),
				    uses << USES_SHIFT | row->start_ns / NS_PER_MS);
	}
}

void coll_numbers_fini(struct coll_numbers *n)
{
	map_u64_fini(&n->last);
}
