/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPK_OPROFILEFS_H
#define OPK_OPROFILEFS_H

#include <linux/fs.h>

/* A directory, and files in it; a source's create_files uses them too. */
struct dentry *opk_mkdir(struct super_block *sb, struct dentry *parent, const char *name);
int opk_create(struct super_block *sb, struct dentry *parent, const char *name,
	       umode_t mode, const struct file_operations *fops, void *private);

/* 0, or why the caller of the file system is refused (capability, lockdown). */
int opk_permitted(void);
/* For struct file_operations: that, and private_data is what opk_create() was given. */
int opk_open(struct inode *inode, struct file *file);
/* Answers a read() with a number and a newline. */
ssize_t opk_show_number(char __user *buf, size_t count, loff_t *pos, u64 value);

/*
 * A number that may be set between two limits while nothing runs.  @value is in the
 * caller's storage, as is the rest of it.
 */
struct opk_number {
	const char *name;
	u64 *value;
	u64 min, max;
};

extern const struct file_operations opk_number_fops;

int opk_fs_init(void);
void opk_fs_exit(void);

#endif
