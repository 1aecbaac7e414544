/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_STORE_RECOVER_H
#define COLLECTOR_STORE_RECOVER_H

#include <stdbool.h>

#include "base/err.h"
#include "libspec/session/stats.h"

/**
 * coll_recover - closes a session that a killed collector left
 * Figures, which are written once a second, are made from the sample files: what was
 * stored and not yet told was taken, too.  Damaged files are named in its notes.  Nothing
 * is done to a session that was closed.  Nobody else may be writing it.
 * @live: receives what stats/live says now
 * Returns 0 or -errno.
 */
int coll_recover(int session_fd, struct spec_live *live, struct err *err);

/* Figures of a session as they were when it was confirmed last, though they could not be
 * written: the disk may refuse these as well. */
struct coll_figures {
	bool known;
	struct spec_stats stats;
};

/**
 * coll_confirm - sees that what a session says is stored is on the disk
 * Of a session that is closed.  Writes back its sample files; where they hold less than
 * the figures say, the rest becomes a loss.  Figures that cannot be read any more are
 * made from the sample files.
 * @figures: those of an earlier try, which failed, or none; receives them
 * @live: what stats/live says; is told anew if the figures change
 * @lost: receives how many samples
 * Returns 0 or -errno.
 */
int coll_confirm(int session_fd, struct coll_figures *figures, struct spec_live *live,
		 uint64_t *lost, struct err *err);

#endif
