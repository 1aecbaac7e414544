/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPK_EVENT_BUFFER_H
#define OPK_EVENT_BUFFER_H

#include <linux/fs.h>
#include <linux/types.h>

#include "record.h"

/*
 * The event buffer: one large ring of words, filled by the synchroniser and by sampled
 * tasks under a spinlock (process context only), emptied by one reader without it.
 */

/*
 * A run: begin makes the buffer (-EINVAL without a reader, -EBUSY if the last run was
 * not read to its end); with run the reader sees it; end: nothing comes any more.
 */
int opk_event_begin(u64 words);
void opk_event_run(void);
void opk_event_end(void);
void opk_event_free(void);

/* Tells a resolved sample, whose cookies are defined; or counts it as lost. */
void opk_event_put(unsigned int cpu, const struct opk_task *task, const u64 *record);

/* Tells that a module came or went.  @state: enum opk_module_state. */
void opk_event_module(unsigned int state, const char *name, u64 text, u64 size);

/* Samples that are put from now on are of this time. */
void opk_event_time(u64 now_ns);

/* Wakes the reader: if enough is there; @dump: in any case. */
void opk_event_wake(bool dump);

extern const struct file_operations opk_event_fops;

#endif
