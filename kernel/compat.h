/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPK_COMPAT_H
#define OPK_COMPAT_H

/*
 * All differences between the kernels that the driver is built for.  What a kernel has is
 * found out by probe.sh.
 */

#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/mm_types.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/rt.h>
#include <uapi/linux/sched/types.h>

#include "probed.h"

static inline void opk_hrtimer_init(struct hrtimer *timer,
				    enum hrtimer_restart (*expired)(struct hrtimer *),
				    enum hrtimer_mode mode)
{
#if OPK_HAS_HRTIMER_SETUP
	hrtimer_setup(timer, expired, CLOCK_MONOTONIC, mode);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, mode);
	timer->function = expired;
#endif
}

static inline struct timespec64 opk_mtime(const struct inode *inode)
{
#if OPK_HAS_INODE_GET_MTIME
	return inode_get_mtime(inode);
#else
	return inode->i_mtime;
#endif
}

static inline void opk_inode_times(struct inode *inode)
{
#if OPK_HAS_SIMPLE_INODE_INIT_TS
	simple_inode_init_ts(inode);
#elif OPK_HAS_INODE_SET_CTIME_CURRENT
	inode->i_atime = inode_set_ctime_current(inode);
	inode->i_mtime = inode->i_atime;
#else
	inode->i_atime = current_time(inode);
	inode->i_mtime = inode->i_atime;
	inode->i_ctime = inode->i_atime;
#endif
}

/*
 * The path by which a user knows a mapped file; a stacked file system has another
 * inside.
 */
static inline const struct path *opk_file_path(const struct file *file)
{
#if OPK_HAS_FILE_USER_PATH
	/* Linux 6.8 had it take a file that is not const, which it does not change. */
	return file_user_path((struct file *)file);
#else
	return &file->f_path;
#endif
}

/* The executable with a reference, or NULL.  Not in an NMI. */
static inline struct file *opk_get_exe_file(struct mm_struct *mm)
{
	struct file *file;

	rcu_read_lock();
#if OPK_HAS_GET_FILE_RCU_PLACE
	file = get_file_rcu(&mm->exe_file);
#else
	file = rcu_dereference(mm->exe_file);
	if (file && !get_file_rcu(file))
		file = NULL;
#endif
	rcu_read_unlock();
	return file;
}

static inline unsigned long opk_module_text(const struct module *mod, unsigned long *size)
{
#if OPK_HAS_MODULE_MEM
	*size = mod->mem[MOD_TEXT].size;
	return (unsigned long)mod->mem[MOD_TEXT].base;
#else
	*size = mod->core_layout.text_size;
	return (unsigned long)mod->core_layout.base;
#endif
}

/* May current have another address space than its registers in user mode are of? */
static inline bool opk_in_execve(void)
{
#if OPK_HAS_IN_EXECVE
	return current->in_execve;
#else
	return false;
#endif
}

/* Adds a new inode to a dentry that stays until the file system is gone. */
static inline void opk_d_add(struct dentry *dentry, struct inode *inode)
{
#if OPK_HAS_D_MAKE_PERSISTENT
	d_make_persistent(dentry, inode);
	dput(dentry);
#else
	d_add(dentry, inode);
#endif
}

/*
 * The arguments of tracepoints.  Functions with these are given to the tracepoint without
 * their type: check_trace_callback_type_...() of trace/events/sched.h compares it.
 */
#if OPK_HAS_EXIT_GROUP_DEAD
#define OPK_EXIT_ARGS void *data, struct task_struct *task_gone, bool group_dead
#else
#define OPK_EXIT_ARGS void *data, struct task_struct *task_gone
#endif

#if OPK_HAS_D_MAKE_PERSISTENT
#define opk_kill_super kill_anon_super
#else
#define opk_kill_super kill_litter_super
#endif

#if OPK_HAS_INODE_JUST_DROP
#define opk_drop_inode inode_just_drop
#else
#define opk_drop_inode generic_delete_inode
#endif

/* Has the current thread run before all others, those of real-time priorities too. */
static inline void opk_run_first(void)
{
#if OPK_HAS_SCHED_SETATTR_NOCHECK
	struct sched_attr attr = {
		.size = sizeof(attr),
		.sched_policy = SCHED_FIFO,
		.sched_priority = MAX_RT_PRIO - 1,
	};

	sched_setattr_nocheck(current, &attr);
#else
	sched_set_fifo(current);
#endif
}

#endif
