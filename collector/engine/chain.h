/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_ENGINE_CHAIN_H
#define COLLECTOR_ENGINE_CHAIN_H

#include "collector/engine/collect.h"

/**
 * coll_chain_count - counts the arcs of a sample's call chain
 * Each frame calls the one before it; the first arc ends at the sampled address.  A frame
 * whose mapping is unknown is skipped, so that its neighbours join.  An arc is filed
 * where a sample in its caller would be.  False if no caller is known.
 * @at, @key_at: where the sample itself was counted, @weight times
 */
bool coll_chain_count(struct coll_collect *c, const struct coll_rec *rec,
		      struct coll_task *task, const struct coll_context *at,
		      uint64_t key_at, uint32_t weight);

#endif
