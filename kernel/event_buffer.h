/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPK_EVENT_BUFFER_H
#define OPK_EVENT_BUFFER_H

#include <linux/fs.h>
#include <linux/types.h>

#include "record.h"

/*
 * The event buffer: one large ring of words.  The synchroniser fills it under a
 * spinlock, in process context only; one reader empties it without that lock.
 */

/*
 * A run: begin allocates the buffer (-EINVAL without a reader, -EBUSY if the last run
 * was not read to its end); run lets the reader see it; after end no more words come.
 */
int opk_event_begin(u64 words);
void opk_event_run(void);
void opk_event_end(void);
void opk_event_free(void);

/* Writes a resolved sample, whose images must be told, or counts it as lost. */
void opk_event_put(unsigned int cpu, const struct opk_task *task, const u64 *record);

/*
 * The same for a record that comes from the same CPU right after one that was put, with
 * nothing in between; while the buffer is held.  false: it must be put as usual.
 */
bool opk_event_put_again(const u64 *record);
/* Keeps others from the buffer, and whoever calls from sleeping. */
void opk_event_hold(void);
void opk_event_let_go(void);

/* Writes what an image is, a record of @len words.  false: there is no room. */
bool opk_event_image(const u64 *words, unsigned int len);
/* Writes that no record will name an image any more. */
void opk_event_gone(u32 cookie);
/* Writes that a module was loaded or is going.  @state: enum opk_module_state. */
void opk_event_module(unsigned int state, const char *name, u64 text, u64 size);

/* Sets the time of the samples that follow. */
void opk_event_time(u64 now_ns);

/* Wakes the reader if there is enough to read; with @dump in any case. */
void opk_event_wake(bool dump);

extern const struct file_operations opk_event_fops;

#endif
