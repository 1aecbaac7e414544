/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_ENGINE_PROCESSES_H
#define COLLECTOR_ENGINE_PROCESSES_H

#include "collector/engine/collect.h"

/*
 * Processes that no record told of, or not enough: /proc is asked about them, and their
 * records wait for the answer.
 */

/**
 * coll_processes_ask - asks about a process
 * Returns true if its records wait from now on; false if all is known that can be.
 */
bool coll_processes_ask(struct coll_collect *c, struct coll_task *task);

/* The same, unless that was done within a second, or the process is unknown. */
bool coll_processes_again(struct coll_collect *c, struct coll_task *task);

/* Asks about all processes, and does not wait.  0 or -errno. */
int coll_processes_all(struct coll_collect *c, struct err *err);

/*
 * Asks about a process and waits for the answer.  0; -ESRCH; -EACCES: it may not be
 * looked at; -ETIMEDOUT: it does not answer; another -errno.
 */
int coll_processes_now(struct coll_collect *c, uint32_t tgid, struct err *err);

/* The process's records wait for unwind tables from now on, until they are released.
 * False if there is no memory for it. */
bool coll_processes_wait_for_tables(struct coll_collect *c, const struct coll_task *task);
/* Takes the records of the process that waited, in their order. */
void coll_processes_release(struct coll_collect *c, uint32_t tgid);

/* Keeps a record of a process in @group for later; takes it at once if too many wait. */
int coll_processes_hold(struct coll_collect *c, struct coll_group *group,
			const struct coll_rec *rec);

#endif
