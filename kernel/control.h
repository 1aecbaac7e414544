/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPK_CONTROL_H
#define OPK_CONTROL_H

#include <linux/types.h>

#include "opfs_source.h"

/* What the files in oprofilefs set; frozen during a run. */
struct opk_settings {
	u64 buffer_size, buffer_watershed; /* words */
	u64 cpu_buffer_size;		   /* words */
	u64 backtrace_depth;
	u64 timer_hz;
};

extern struct opk_settings opk_settings;

/* Are samples taken?  Any context. */
extern bool opk_running;

/* Sets a setting; -EBUSY during a run. */
int opk_setting_store(u64 *setting, u64 value);

/* 0 or -errno, with the reason in the log.  Starting and stopping twice is no error. */
int opk_control_start(void);
void opk_control_stop(void);

/* The source that is chosen, "auto" if none is; -EINVAL, -EBUSY. */
const char *opk_control_source(void);
int opk_control_choose(const char *name);

/* Of the run's source: its frequency if it is the timer, else 0. */
u64 opk_control_timer_hz(void);
/* Writes OPK_COUNTER records of the run; returns their words. */
unsigned int opk_control_tell_counters(u64 *words, unsigned int room);

/* Lets every source make its files. */
int opk_control_create_files(struct super_block *sb, struct dentry *root);

/* Gives the memory of a run back, if nothing needs it any more; without a reader. */
void opk_control_free(void);

#endif
