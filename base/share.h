/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_SHARE_H
#define BASE_SHARE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/map.h"

/*
 * A limited amount of something that several users take from.  A user may have as much as
 * is left free then: the first one half of it, a second one a quarter, and so on.  So one
 * who wants all leaves some for who comes after him, without shares that are fixed
 * beforehand.  (Choudhury and Hahne, "Dynamic queue length thresholds in a shared-memory
 * packet switch", 1998, with alpha = 1.)  The last unit goes to one who has none.
 *
 * Where there is only one user, he may have all.  No lock: the caller's.
 */
struct share {
	uint64_t total, used;
	bool fair;            /* there are several users */
	struct map_u64 users; /* what each has, by user id */
};

void share_init(struct share *s, uint64_t total, bool fair);
void share_fini(struct share *s);

/* May @uid take so much more? */
bool share_may(const struct share *s, uid_t uid, uint64_t amount);
/* Takes it.  0; -EAGAIN: it is more than he may have now; -ENOMEM. */
int share_take(struct share *s, uid_t uid, uint64_t amount);
/* Gives back what was taken. */
void share_give(struct share *s, uid_t uid, uint64_t amount);
/* What a user has. */
uint64_t share_of(const struct share *s, uid_t uid);

#endif
