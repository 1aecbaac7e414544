/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPK_SYNC_H
#define OPK_SYNC_H

/*
 * Moves records from the CPUs' buffers to the event buffer: every quarter of a second,
 * when a CPU's buffer is half full, and on request.
 */

int opk_sync_init(void);
void opk_sync_exit(void);

/* A run: begins the quarter-second timer; the end synchronises one last time. */
void opk_sync_begin(void);
void opk_sync_end(void);

/* Requests it from a worker.  Interrupts may call this, NMIs may not. */
void opk_sync_soon(void);

/* Has it done at once, by a kernel thread, and waits for that.  Process context. */
void opk_sync(void);

/* Between these nothing synchronises and buffers may be freed.  Not during a run. */
void opk_sync_block(void);
void opk_sync_unblock(void);

#endif
