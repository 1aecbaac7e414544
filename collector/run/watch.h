/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_RUN_WATCH_H
#define COLLECTOR_RUN_WATCH_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/ids.h"
#include "base/vec.h"
#include "collector/run/launch.h"

/* Waits for samples, signals, and the end of what is profiled. */
struct coll_watch {
	VEC(struct pollfd) fds; /* the source, signals, then processes */
	size_t alive;           /* of the processes */
	bool begun;             /* @old_mask is that of before */
	sigset_t old_mask;      /* the command gets it */
	int interrupts;         /* how often a person asked for the end */
	int signal;             /* the last of those signals */
	bool alone;             /* the command was started ignoring one of them */
};

/* Keeps SIGINT and SIGTERM, ignored or not, until coll_watch_init() takes them: to be
 * called first, into a zeroed @w. */
void coll_watch_begin(struct coll_watch *w);
/* Takes over SIGINT, SIGTERM, SIGHUP (unless ignored) and SIGCHLD.  What is ignored stays
 * so: the command inherits that, and nobody waits for it to end of such a signal. */
int coll_watch_init(struct coll_watch *w, struct err *err);
void coll_watch_fini(struct coll_watch *w);

/* The descriptor that is readable when samples wait; borrowed. */
void coll_watch_source(struct coll_watch *w, int fd);
/**
 * coll_watch_processes - waits for the end of these, too
 * @pids: of -p; numbers of threads become those of their processes, each once
 * Returns 0, -ESRCH if there is no such process, or another -errno.
 */
int coll_watch_processes(struct coll_watch *w, struct ids *pids, struct err *err);

/**
 * coll_watch_wait - waits until something happens
 * A signal that somebody sent to the collector alone is passed on to the command; one
 * from the terminal has reached it already.
 */
void coll_watch_wait(struct coll_watch *w, struct coll_launch *l, int timeout_ms);

/* Did that wait end because the source can be read? */
bool coll_watch_ready(const struct coll_watch *w);
/* From now on SIGINT and SIGTERM end the program at once, whatever it is doing. */
void coll_watch_let_through(const struct coll_watch *w);

/* True if the run is over. */
bool coll_watch_done(const struct coll_watch *w, const struct coll_launch *l);

/* The exit status of a run that did all it could: the command's, if there is one. */
int coll_watch_status(const struct coll_watch *w, const struct coll_launch *l);

#endif
