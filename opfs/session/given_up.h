/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_SESSION_GIVEN_UP_H
#define OPFS_SESSION_GIVEN_UP_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * What users had to wait for sessions of others that are not trusted.  A session that
 * was too large is not read again for five minutes, alone or in a sum.  And all those of
 * one owner together may take 10 s a minute; what would take more has to wait.  If there
 * are many of either, the oldest are forgotten.  Thread safe.
 */
enum { GIVEN_UP_MAX = 64 };

struct given_up {
	pthread_mutex_t lock;
	struct {
		uint64_t dev, ino; /* of its directory */
		uint64_t until_ns; /* CLOCK_MONOTONIC */
	} sessions[GIVEN_UP_MAX];
	struct {
		uid_t uid;
		uint64_t spent_ns, until_ns; /* since a minute before then */
	} owners[GIVEN_UP_MAX];
	size_t next_session, next_owner;
};

void given_up_init(struct given_up *g);
void given_up_add(struct given_up *g, uint64_t dev, uint64_t ino);
bool given_up_has(struct given_up *g, uint64_t dev, uint64_t ino);

/* An owner's session took so long to read. */
void given_up_spend(struct given_up *g, uid_t owner, uint64_t ns);
/* For how long his may be read now. */
uint64_t given_up_left(struct given_up *g, uid_t owner);

#endif
