/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPK_OPROFILEFS_H
#define OPK_OPROFILEFS_H

#include <linux/fs.h>
#include <linux/seq_file.h>

#include "opfs_source.h"

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

enum { OPK_LINE = 32 };

/*
 * Takes what is written to a file: one line of at most OPK_LINE - 2 characters, with or
 * without its newline, all of it in one write() at offset 0.  0, -EINVAL or -EFAULT.
 * Every write() is a whole line, so writers leave *@pos as it is.
 */
int opk_take_line(char line[OPK_LINE], const char __user *buf, size_t count, loff_t pos);

int opk_fs_init(void);
void opk_fs_exit(void);

#endif
