// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A source for tests only, which takes no samples and is there to come and go: its file
 * "fleeting" is in every oprofilefs that is mounted while it is loaded.  Never installed.
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/module.h>

#include "compat.h"
#include "opfs_source.h"

static ssize_t fleeting_read(struct file *file, char __user *buf, size_t count,
			     loff_t *pos)
{
	static const char text[] = "here\n";

	return simple_read_from_buffer(buf, count, pos, text, sizeof(text) - 1);
}

static const struct file_operations fleeting_fops = {
	.owner = THIS_MODULE,
	.read = fleeting_read,
};

static int create_files(struct super_block *sb, struct dentry *root)
{
	struct dentry *dentry = d_alloc_name(root, "fleeting");
	struct inode *inode = dentry ? new_inode(sb) : NULL;

	if (!inode) {
		dput(dentry);
		return -ENOMEM;
	}
	inode->i_ino = get_next_ino();
	inode->i_mode = S_IFREG | 0444;
	opk_inode_times(inode);
	inode->i_fop = &fleeting_fops;
	opk_d_add(dentry, inode);
	return 0;
}

static int start(unsigned int cpu)
{
	return 0;
}

static void stop(unsigned int cpu)
{
}

static struct opk_source fleeting = {
	.name = "fleeting",
	.owner = THIS_MODULE,
	.create_files = create_files,
	.start = start,
	.stop = stop,
};

static int __init opfs_fleeting_init(void)
{
	return opk_source_register(&fleeting);
}
module_init(opfs_fleeting_init);

static void __exit opfs_fleeting_exit(void)
{
	opk_source_unregister(&fleeting);
}
module_exit(opfs_fleeting_exit);

MODULE_DESCRIPTION("A source that comes and goes, for testing opfs_sampler");
MODULE_LICENSE("GPL");
