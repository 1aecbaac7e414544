/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_DAEMON_KEEPER_H
#define COLLECTOR_DAEMON_KEEPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "collector/daemon/options.h"

/*
 * A thread that looks after sessions nobody writes to any more, while samples are taken:
 * has their names kept, gives them their manifest, removes those that are too many, and
 * what "remove" and "reset" took away.  Works from what is on the disk, so that one that
 * was killed is continued by the next: a session with the daemon's file "settings" and
 * without a MANIFEST is still to be closed; ".gone.*" is still to be removed.
 */
struct coll_keeper;

/**
 * coll_keeper_new - starts the thread
 * @samples_fd: SESSION_DIR/samples; borrowed until coll_keeper_free()
 * @o: which sessions and names are kept; copied
 */
int coll_keeper_new(int samples_fd, const struct coll_daemon_options *o,
		    struct coll_keeper **out, struct err *err);
/* Waits until what was begun, and sessions to be closed, are done.  NULL is fine. */
void coll_keeper_free(struct coll_keeper *k);

/* There is something new to look after. */
void coll_keeper_wake(struct coll_keeper *k);
void coll_keeper_set(struct coll_keeper *k, const struct coll_daemon_options *o);
/* Has what these files of containers tell kept soon, also for "current"; takes them
 * over. */
void coll_keeper_hold(struct coll_keeper *k, coll_held_fds *held);
/* Bytes of the session that is being written: part of what --keep bounds. */
void coll_keeper_current(struct coll_keeper *k, uint64_t bytes);
/* Removes the oldest rotated session, if any may be removed (--keep was given). */
void coll_keeper_make_room(struct coll_keeper *k);
/* Whether it is at work, or is going to be. */
bool coll_keeper_busy(struct coll_keeper *k);
/* How many sessions it removed. */
uint64_t coll_keeper_removed(struct coll_keeper *k);
/* How many samples the disk had refused of sessions that were closed. */
uint64_t coll_keeper_lost(struct coll_keeper *k);

/**
 * coll_keeper_take - takes a session out of sight at once; its files go later
 * @gone: what it is called until then; NULL: do not say
 * Returns 0 or -errno; -ENOENT: there is none.
 */
enum { COLL_GONE_NAME = 32 };
int coll_keeper_take(int samples_fd, const char *name, char gone[COLL_GONE_NAME],
		     struct err *err);
/* Bytes that a session takes on the disk. */
uint64_t coll_keeper_disk_usage(int samples_fd, const char *name);

#endif
