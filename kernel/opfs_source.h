/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_SOURCE_H
#define OPFS_SOURCE_H

/*
 * What a source of samples is to the driver.  Other modules may register one; it is
 * chosen by writing its name to /dev/oprofile/source.
 */

#include <linux/list.h>
#include <linux/types.h>

struct dentry;
struct module;
struct pt_regs;
struct super_block;

struct opk_source {
	const char *name;
	struct module *owner;
	/*
	 * Adds the source's files to a new oprofilefs.  Sources that register after it
	 * was mounted have none.  May be NULL.
	 */
	int (*create_files)(struct super_block *sb, struct dentry *root);
	/* Before a run: are the settings good?  Says why not in the log.  May be NULL. */
	int (*setup)(void);
	/*
	 * Samples this CPU, or stops; in a thread bound to it, at the start and end of a
	 * run and when the CPU comes and goes.
	 */
	int (*start)(unsigned int cpu);
	void (*stop)(unsigned int cpu);
	/* After a run.  May be NULL. */
	void (*shutdown)(void);
	struct list_head list;
};

int opk_source_register(struct opk_source *source);
/* Not while it runs: whoever samples with it holds its module. */
void opk_source_unregister(struct opk_source *source);

enum { OPK_EXT_FETCH = 1, OPK_EXT_OP = 2, OPK_EXT_REGS = 12 };

/* Registers that come with a sample (IBS). */
struct opk_ext {
	u32 kind; /* OPK_EXT_* */
	u32 caps;
	u32 nr_regs;
	u64 regs[OPK_EXT_REGS];
};

/*
 * One sample of this CPU.  From a hard interrupt or NMI; @regs are what it interrupted,
 * @ext may be NULL.
 */
void opk_add_sample(struct pt_regs *regs, unsigned int counter, const struct opk_ext *ext);

#endif
