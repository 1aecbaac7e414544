/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_ENGINE_FILING_H
#define COLLECTOR_ENGINE_FILING_H

#include "collector/engine/collect.h"

/* From a counted place to its sample file, at once or when its images are known. */

/* A count waits: it is stored or lost later. */
#define COLL_WAITS SPEC_STAT_TAKEN

/**
 * coll_collect_file - counts in a sample file, or keeps the count for later
 * @stack: is counted in the file of stacks of the same name; NULL: none is wanted
 * Returns STORED; COLL_WAITS: its images are not known yet, and its samples and hits are
 * counted when it is filed; or LOST_SAMPLEFILE.
 */
enum spec_stat coll_collect_file(struct coll_collect *c, const struct coll_key *key,
				 uint64_t at, const struct coll_stack *stack,
				 const struct coll_count *count);

/* Files what waits, as far as its images are known by now. */
void coll_collect_file_waiting(struct coll_collect *c);
/* Samples that were taken, and wait to be filed or looked at. */
uint64_t coll_collect_waiting(const struct coll_collect *c);

#endif
