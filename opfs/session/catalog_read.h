/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_SESSION_CATALOG_READ_H
#define OPFS_SESSION_CATALOG_READ_H

#include "base/clock.h"
#include "opfs/session/catalog_build.h"

/* Reading the nodes of sample files for a catalog, within bounds. */

/* What one session of a user who is not trusted may take at once. */
#define CATALOG_READ_MAX_NS (5 * CLOCK_NS_PER_S)

/* Bounds what the session that is being read may take, of which @left_ns are of its
 * owner's time. */
void catalog_read_bound(struct catalog_build *b, uint64_t left_ns);
/* Is it time to stop?  0, -EINTR: the viewer has gone, -EFBIG: beyond the bounds. */
int catalog_read_check(const struct catalog_build *b, struct err *err);
/* Says that the session is beyond its bounds: -EFBIG. */
int catalog_read_too_large(const struct catalog_build *b, struct err *err);
/* How long reading the session kept others waiting, which counts as its owner's: live
 * sessions are read again and again. */
uint64_t catalog_read_cost_ns(const struct catalog_build *b);

/**
 * catalog_read_nodes - sums a file's nodes and, of a live session, copies them
 * @max: samples; what the file has beyond that is left out
 * The copy begins at b->copy_end, as that was before the call.
 * Returns 0, -EBADMSG, or another -errno.
 */
int catalog_read_nodes(struct catalog_build *b, const struct spec_sample_reader *r,
		       uint64_t max, uint64_t *total, struct err *err);

#endif
