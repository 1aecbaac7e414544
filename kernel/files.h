/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPK_FILES_H
#define OPK_FILES_H

struct super_block;
struct dentry;

/* Creates the files and directories of a new oprofilefs. */
int opk_files_create(struct super_block *sb, struct dentry *root);

#endif
