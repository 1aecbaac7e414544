/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_STORE_SESSION_H
#define COLLECTOR_STORE_SESSION_H

#include <stdbool.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "libspec/session/stats.h"

/* The session that is being written: SESSION_DIR/samples/current, or another. */
struct coll_session {
	struct strbuf dir;     /* SESSION_DIR as a person should see it */
	struct strbuf renamed; /* what the former "current" is called now, or "" */
	const char *name;      /* "current", or another; borrowed */
	int lock_fd, samples_fd,
		fd; /* of SESSION_DIR/lock, of samples/, of the session */
	struct spec_live live;
	struct spec_stats before; /* of earlier runs, with --append */
	struct spec_stats told;   /* what the session's files say, if */
	bool has_told;            /* all of it could be written */
};

/* File of a session of the daemon's: how it was made, lines KEY VALUE. */
#define COLL_SETTINGS "settings"

/* A session that is written to no more. */
struct coll_session_old {
	int fd;
	struct strbuf name; /* in samples/ */
};
void coll_session_old_fini(struct coll_session_old *old); /* accepts {-1} */

/**
 * coll_session_open - makes, or makes ready, the session
 * @dir: SESSION_DIR; NULL: $OPFS_SESSION_DIR, else ./oprofile_data
 * @name: of one that is made, or added to with @append; NULL: "current"
 * @append: add to what is there
 * @kept: a keeper of sessions closes what a killed daemon left: that is only renamed,
 *	however much there is
 * A "current" that holds samples is else renamed by the time it was begun: by exchange
 * with an empty one, as in coll_session_rotate().
 * Returns 0, -EBUSY if another collector writes there, -EEXIST if there is one @name, or
 * another -errno.
 */
int coll_session_open(struct coll_session *s, const char *dir, const char *name,
		      bool append, bool kept, struct err *err);

/**
 * coll_session_prepare - makes an empty session ready to become "current"
 * Whatever is written into @fd is then there from its first moment.
 */
int coll_session_prepare(struct coll_session *s, int *fd, struct err *err);

/**
 * coll_session_rotate - goes on in an empty session
 * @next: from coll_session_prepare(); taken over, also on failure
 * @now: the figures of this run, the last for the old session
 * @name: how the old one is called from now on; NULL: by the time it was begun
 * @old: receives it, with a last generation that is closed
 * "current" is exchanged with the empty one in one step and never absent; a reader of a
 * file system that cannot do that sees it absent for a moment.
 * Returns 0; -EEXIST if there is a session @name; another -errno: nothing happened.
 */
int coll_session_rotate(struct coll_session *s, int next, const struct spec_stats *now,
			const char *name, struct coll_session_old *old, struct err *err);

/* Opens the directory of a session, which is no link.  A descriptor, or -errno. */
int coll_session_dir(int samples_fd, const char *name);
/* Whether it is a name that rotation gives: 2026-11-21T09-00-00Z, perhaps with -N. */
bool coll_session_name_is_time(const char *name);
/* 0, or -EINVAL with the reason why no session can be called so. */
int coll_session_name_check(const char *name, struct err *err);

/**
 * coll_session_lose - takes out of a figure what turned out not to be so
 * @now: the figures of this run; what is more than these have is of runs before
 * @from: the figure; @to: the one that it is counted under instead
 */
void coll_session_lose(struct coll_session *s, struct spec_stats *now,
		       enum spec_stat from, enum spec_stat to, uint64_t nr);

/* Writes figures, and stats/live with a new generation; @now are those of this run. */
int coll_session_tell(struct coll_session *s, const struct spec_stats *now, bool closed,
		      struct err *err);
void coll_session_fini(struct coll_session *s);

#endif
