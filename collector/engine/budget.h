/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_ENGINE_BUDGET_H
#define COLLECTOR_ENGINE_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"

/*
 * What users' tasks do (mappings, names, forks) costs the collector time, and one user
 * may do so much that none is left for the others.  So each has a budget of records a
 * second.
 */
enum { COLL_BUDGET_OF_CPU = 10000 }; /* for each CPU */

struct coll_budget {
	uint64_t each;         /* records of a user in a second; 0: any */
	uint64_t second;       /* by the records' time: the one that is going on */
	uint64_t all;          /* records in it */
	struct map_u64 spent;  /* by user, since they were more than @each together */
	struct map_u64 owners; /* whose a process is */
};

/**
 * coll_budget_spent - takes a record of process @tgid into account
 * Nobody's user is asked for before all records of the second are more than one user may
 * have.  Processes that are not there any more count as those of one user.
 * True if its user has had his records of this second.
 */
bool coll_budget_spent(struct coll_budget *b, uint32_t tgid, uint64_t time_ns);
/* Accepts a zeroed one. */
void coll_budget_fini(struct coll_budget *b);

#endif
