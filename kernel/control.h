/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPK_CONTROL_H
#define OPK_CONTROL_H

#include <linux/types.h>

#include "opfs_source.h"

/* The settings that files in oprofilefs change; frozen during a run. */
struct opk_settings {
	u64 buffer_size, buffer_watershed; /* in words */
	u64 cpu_buffer_size;               /* in words */
	u64 backtrace_depth;
	u64 user_stack; /* most bytes of it that a sample has; 0: none */
	u64 timer_hz;
};

extern struct opk_settings opk_settings;

/* True while samples are taken.  Any context. */
extern bool opk_running;

/* Changes a setting; -EBUSY during a run. */
int opk_setting_store(u64 *setting, u64 value);

/*
 * Starts or stops; 0 or -errno, with the reason in the log.  Doing so twice is no error.
 */
int opk_control_start(void);
void opk_control_stop(void);

/* Has the source of the run look after itself; for the worker that runs during it. */
void opk_control_check(void);

/* Copies the name of the chosen source, "auto" if none is. */
void opk_control_source(char *name, size_t size);
/* Chooses one by its name, or "auto".  0, -EINVAL or -EBUSY. */
int opk_control_choose(const char *name);

/* The frequency of the timer, 0 if the run has another source. */
u64 opk_control_timer_hz(void);
/* Writes the OPK_COUNTER records of the run; returns the number of words. */
unsigned int opk_control_tell_counters(u64 *words, unsigned int room);

/*
 * Has every source create its files, and holds the modules of those that have some until
 * these are out of reach.
 */
int opk_control_create_files(struct super_block *sb, struct dentry *root);
void opk_control_drop_files(void);

/* Frees the memory of a run unless it is still needed; called when there is no reader. */
void opk_control_free(void);

#endif
