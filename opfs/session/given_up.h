/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_SESSION_GIVEN_UP_H
#define OPFS_SESSION_GIVEN_UP_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Sessions that were too large to read, for a minute each: who asks for one again, alone
 * or in a sum, does not wait again.  If there are many, the oldest are forgotten.  Thread
 * safe.
 */
enum { GIVEN_UP_MAX = 64 };

struct given_up {
	pthread_mutex_t lock;
	struct {
		uint64_t dev, ino; /* of its directory */
		uint64_t until_ns; /* CLOCK_MONOTONIC */
	} rows[GIVEN_UP_MAX];
	size_t next;
};

void given_up_init(struct given_up *g);
void given_up_add(struct given_up *g, uint64_t dev, uint64_t ino);
bool given_up_has(struct given_up *g, uint64_t dev, uint64_t ino);

#endif
