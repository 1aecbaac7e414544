/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_SESSION_H
#define COLLECTOR_SESSION_H

#include <stdbool.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "libspec/stats.h"

/* The session that is being written: SESSION_DIR/samples/current. */
struct coll_session {
	struct strbuf dir;       /* SESSION_DIR as a person should see it */
	struct strbuf renamed;   /* what the former "current" is called now, or "" */
	int lock_fd, fd;         /* of SESSION_DIR/lock, and of current/ */
	struct spec_live live;
	struct spec_stats before; /* of earlier runs, with --append */
};

/**
 * coll_session_open - makes, or makes ready, the session
 * @dir: SESSION_DIR; NULL: ./oprofile_data
 * @append: add to what is there
 * A "current" that holds samples is else renamed by the time it was begun.
 * Returns 0, -EBUSY if another collector writes there, or another -errno.
 */
int coll_session_open(struct coll_session *s, const char *dir, bool append,
		      struct err *err);

/* Writes figures, and stats/live with a new generation; @now are those of this run. */
int coll_session_tell(struct coll_session *s, const struct spec_stats *now, bool closed,
		      struct err *err);
void coll_session_fini(struct coll_session *s);

#endif
