/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_STORE_ARCS_H
#define COLLECTOR_STORE_ARCS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "libspec/session/stats.h"

/*
 * Files of arcs, as OProfile's programs read them: from one frame of a stack to the next,
 * with the samples that were taken during the call.
 */
struct coll_arcs {
	bool derived; /* the session's arcs are these */
	uint64_t stored, lost;
	struct err why; /* the first that could not be written */
};

/**
 * coll_arcs_derive - makes a session's files of arcs from its stacks
 * Nobody may be writing it.  Each file is made whole and put in the place of the one that
 * is there; another time comes to the same.  A session without stacks, and one whose arcs
 * are older than its first stack, is left alone.
 * Returns 0, or -errno if not even that can be told.
 */
int coll_arcs_derive(int session_fd, struct coll_arcs *out, struct err *err);

/* The same, and what figures say of arcs. */
int coll_arcs_close(int session_fd, struct spec_stats *figures, struct coll_arcs *out,
		    struct err *err);

#endif
