/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_ENGINE_STACKS_H
#define COLLECTOR_ENGINE_STACKS_H

#include "collector/engine/collect.h"

/**
 * coll_stacks_walk - the stack of a sample, from its call chain
 * @at, @key_at: where the sample itself is counted
 * Frames whose mapping is unknown are one frame without an image, or the end of the stack
 * if they are the outermost.  Returns @c->stack, which holds until the next call.
 */
const struct coll_stack *coll_stacks_walk(struct coll_collect *c,
					  const struct coll_rec *rec,
					  struct coll_task *task,
					  const struct coll_context *at, uint64_t key_at);

#endif
