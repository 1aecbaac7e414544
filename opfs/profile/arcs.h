/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_PROFILE_ARCS_H
#define OPFS_PROFILE_ARCS_H

#include "opfs/profile/build.h"

/* Arcs between different pairs of rows. */
#define PROFILE_MAX_ARCS (16u << 20)

/* Reads the arcs, and makes those of stacks: fills b->arcs, and adds the rows that only
 * arcs know. */
int profile_read_arcs(struct profile_build *b);
/* What the first name of anonymous memory is among flat files. */
void profile_join_anonymous(struct profile_build *b);

/**
 * profile_each_arc - visits every sampled call, by offset instead of by row
 * @p: loaded with PROFILE_ARCS; the arcs of a filtered profile are its parent's
 * @visit: if it returns other than 0, the walk ends and returns that
 * Offsets in files of arcs are the lower 32 bits only.  A pair of offsets may be visited
 * more than once.  A file that cannot be read is skipped, as when @p was loaded.
 * Returns 0, -EINTR, -ENOMEM.
 */
int profile_each_arc(const struct profile *p, const struct viewer *v,
		     int (*visit)(void *ctx, const struct profile_raw_arc *arc),
		     void *ctx, struct err *err);

#endif
