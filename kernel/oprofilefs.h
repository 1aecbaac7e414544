/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPK_OPROFILEFS_H
#define OPK_OPROFILEFS_H

#include <linux/fs.h>
#include <linux/seq_file.h>

/* Create a directory, and a file in it; for create_files of sources too. */
struct dentry *opk_mkdir(struct super_block *sb, struct dentry *parent, const char *name);
int opk_create(struct super_block *sb, struct dentry *parent, const char *name,
	       umode_t mode, const struct file_operations *fops, void *private);

/* 0, or why the caller may not use the file system (capability, lockdown). */
int opk_permitted(void);
/*
 * A file that is read: NAME_fops, from NAME_show(), which prints the file's text to @seq
 * and finds what opk_create() was given in seq->private; @write may be NULL.  The text is
 * made for the first read(), and later ones go on in it, or a figure that grows meanwhile
 * could be read as two halves.
 */
#define OPK_SHOW(name, write_)                                                           \
	static int name##_open(struct inode *inode, struct file *file)                   \
	{                                                                                \
		int rc = opk_permitted();                                                \
                                                                                         \
		return rc ? rc : single_open(file, name##_show, inode->i_private);       \
	}                                                                                \
                                                                                         \
	static const struct file_operations name##_fops = {                              \
		.owner = THIS_MODULE,                                                    \
		.open = name##_open,                                                     \
		.read = seq_read,                                                        \
		.write = write_,                                                         \
		.llseek = seq_lseek,                                                     \
		.release = single_release,                                               \
	}

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

int opk_fs_init(void);
void opk_fs_exit(void);

#endif
