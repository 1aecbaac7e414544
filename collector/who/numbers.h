/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_WHO_NUMBERS_H
#define COLLECTOR_WHO_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"

/* Numbers of processes are used again: who had each last, in one session. */
struct coll_numbers {
	struct map_u64 last;
};

/* Are two starts the same?  /proc tells times in ticks.  0: unknown, which may be. */
bool coll_same_start(uint64_t one_ns, uint64_t other_ns);

/* What the process that has the number is stored as: see libspec/name/pid.h. */
uint32_t coll_numbers_use(struct coll_numbers *n, uint32_t number, uint64_t start_ns);
/* Takes the numbers of a session that is added to for used. */
void coll_numbers_read(struct coll_numbers *n, int session_fd);
void coll_numbers_fini(struct coll_numbers *n);

#endif
