/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_SERVER_ARRIVALS_H
#define LIBSYM_SERVER_ARRIVALS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/build_id.h"
#include "base/vec.h"
#include "libsym/file/identity.h"

/*
 * Files that were looked for by build-id and not found, in /usr/lib/debug and the caches
 * of this process's user, and may come while it runs.  Looking whether one has come waits
 * for nothing; where the kernel cannot tell without waiting (some network file systems)
 * none is ever noticed.  Any number of threads may call.
 */

enum {
	SYM_ARRIVALS_PATHS = 6, /* of each build-id */
	SYM_ARRIVALS_MAX = 1024 /* build-ids; more take the place of the oldest ones */
};

struct sym_arrivals {
	pthread_mutex_t lock; /* over all below but the atomic ones */
	VEC(struct sym_awaited {
		struct build_id id;
		struct sym_identity at[SYM_ARRIVALS_PATHS];
	})
	awaited;
	size_t oldest;
	_Atomic uint64_t count, look_ns; /* when to look again, CLOCK_MONOTONIC */
};

void sym_arrivals_init(struct sym_arrivals *a);
void sym_arrivals_fini(struct sym_arrivals *a);

/* Files of a build-id were not found just now; an unknown one is ignored. */
void sym_arrivals_await(struct sym_arrivals *a, const struct build_id *id);

/* Looks whether what is awaited has come, or changed, and counts that. */
void sym_arrivals_look(struct sym_arrivals *a);

/* How often something came so far.  Looks every two seconds. */
uint64_t sym_arrivals_count(struct sym_arrivals *a);

#endif
