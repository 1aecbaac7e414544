/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_SOURCE_H
#define OPFS_SOURCE_H

/*
 * A source of samples, as the driver uses it.  Other modules may register one; it is
 * chosen by writing its name to /dev/oprofile/source.
 */

#include <linux/list.h>
#include <linux/types.h>

struct dentry;
struct file_operations;
struct module;
struct pt_regs;
struct super_block;

struct opk_source {
	const char *name;
	struct module *owner;
	/*
	 * Adds the source's files to a new oprofilefs.  A source that registers after
	 * oprofilefs was mounted has none; the module of one that has stays until
	 * oprofilefs is unmounted.  May be NULL.
	 */
	int (*create_files)(struct super_block *sb, struct dentry *root);
	/*
	 * Called before a run: 0 if the settings are good, else the reason is in the
	 * log.  May be NULL.
	 */
	int (*setup)(void);
	/*
	 * Begins or ends sampling of this CPU.  Called in a thread bound to it, at the
	 * start and end of a run and when the CPU goes online or offline.
	 */
	int (*start)(unsigned int cpu);
	void (*stop)(unsigned int cpu);
	/*
	 * Looks after the source, about once a second of a run, in a worker; CPUs may
	 * come and go meanwhile.  May be NULL.
	 */
	void (*check)(void);
	/* Called after a run.  May be NULL. */
	void (*shutdown)(void);
	/* The driver's own. */
	struct list_head list;
	bool has_files;
};

int opk_source_register(struct opk_source *source);
/* Not during a run that uses it: the run holds its module. */
void opk_source_unregister(struct opk_source *source);

/* For create_files: a directory, and a file in it. */
struct dentry *opk_mkdir(struct super_block *sb, struct dentry *parent, const char *name);
int opk_create(struct super_block *sb, struct dentry *parent, const char *name,
	       umode_t mode, const struct file_operations *fops, void *private);

/*
 * 0, or why the caller may not use oprofilefs (capability, lockdown): what the open() of
 * every file is to return first.
 */
int opk_permitted(void);

/*
 * A number that may be set within limits while no run is in progress.  @value and the
 * structure itself are in the caller's storage.
 */
struct opk_number {
	const char *name;
	u64 *value;
	u64 min, max;
};

/* Creates the file of a number, @n->name. */
int opk_create_number(struct super_block *sb, struct dentry *parent,
		      const struct opk_number *n);

enum { OPK_EXT_FETCH = 1, OPK_EXT_OP = 2, OPK_EXT_REGS = 12 };

/* Registers that come with a sample of IBS. */
struct opk_ext {
	u32 kind; /* OPK_EXT_* */
	u32 caps;
	u32 nr_regs;
	u64 regs[OPK_EXT_REGS];
};

/*
 * Hands over a sample of this CPU.  From a hard interrupt or NMI; @regs are those of the
 * code that was interrupted, @ext may be NULL.
 */
void opk_add_sample(struct pt_regs *regs, unsigned int counter,
		    const struct opk_ext *ext);

/*
 * Counts @n samples of this CPU that should have been taken before this interrupt, and
 * were not: as lost (OPK_LOST_MISSED), or as idle if @regs are the idle task's.
 * From a hard interrupt.
 */
void opk_add_missed(struct pt_regs *regs, unsigned long n);

#endif
