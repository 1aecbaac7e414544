/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPK_SYNC_H
#define OPK_SYNC_H

/*
 * Moves the records of the CPUs' buffers into the event buffer: every quarter of a
 * second, when a CPU's buffer is half full, and when it is asked for.
 */

int opk_sync_init(void);
void opk_sync_exit(void);

/* A run: the quarter seconds begin, and end with a last synchronisation. */
void opk_sync_begin(void);
void opk_sync_end(void);

/* Soon, in a worker.  Interrupts too, but no NMI. */
void opk_sync_soon(void);

/* Now.  Process context; takes a mutex. */
void opk_sync(void);

/* Nobody synchronises between these: buffers may be freed.  Not during a run. */
void opk_sync_block(void);
void opk_sync_unblock(void);

#endif
