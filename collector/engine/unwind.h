/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_ENGINE_UNWIND_H
#define COLLECTOR_ENGINE_UNWIND_H

#include <stdbool.h>

#include "collector/engine/collect.h"

/*
 * The user part of stacks, from registers, a copy of the stack and unwind tables.  While
 * a table is being made, all records of the process wait, since what it maps meanwhile
 * would be known too early otherwise.
 */

/**
 * coll_unwind_sample - unwinds a sample's user stack into @c->unwound
 * Returns false if it meets a table that is being made: the record waits, in a group that
 * was begun for @task (collector/rec/deferred.h).
 */
bool coll_unwind_sample(struct coll_collect *c, const struct coll_rec *rec,
			struct coll_task *task);

/**
 * coll_unwind_place - where the code of an unwound frame is
 * Returns false if the stack's source tells of ranges, and of none there.
 */
bool coll_unwind_place(const struct coll_user_stack *s, uint64_t ip,
		       struct coll_place *out);

/* Nothing waits for tables any more: what handles stand for is about to change. */
void coll_unwind_hurry(struct coll_collect *c);

/* Takes tables that were made, and the records that waited for them. */
void coll_unwind_settle(struct coll_collect *c);
/* The same, and waits until nothing waits any more. */
void coll_unwind_finish(struct coll_collect *c);

#endif
