// SPDX-License-Identifier: GPL-2.0-or-later
/* oprofilefs: the file system type, its directories, and files that hold a number. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "oprofilefs.h"

#include <linux/capability.h>
#include <linux/ctype.h>
#include <linux/fs_context.h>
#include <linux/module.h>
#include <linux/security.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "control.h"
#include "files.h"

#define OPROFILEFS_MAGIC 0x6f70726f

int opk_permitted(void)
{
	if (!perfmon_capable())
		return -EPERM;
	return security_locked_down(LOCKDOWN_PERF);
}
EXPORT_SYMBOL_GPL(opk_permitted);

static int number_show(struct seq_file *seq, void *unused)
{
	const struct opk_number *n = seq->private;

	seq_printf(seq, "%llu\n", READ_ONCE(*n->value));
	return 0;
}

int opk_take_line(char line[OPK_LINE], const char __user *buf, size_t count, loff_t pos)
{
	if (pos || !count || count >= OPK_LINE)
		return -EINVAL;
	if (copy_from_user(line, buf, count))
		return -EFAULT;
	if (line[count - 1] == '\n')
		count--;
	line[count] = '\0';
	/* Neither a NUL nor a second line in it. */
	return strcspn(line, "\n") == count ? 0 : -EINVAL;
}

/* Decimal, or hexadecimal with 0x: no sign, no space, and no 010 that could be 8. */
static int parse_number(const char *text, u64 *value)
{
	bool hex = !strncmp(text, "0x", 2);

	if (!isxdigit(text[hex ? 2 : 0]) || (!hex && text[0] == '0' && text[1]))
		return -EINVAL;
	return kstrtoull(text, hex ? 16 : 10, value);
}

static ssize_t number_write(struct file *file, const char __user *buf, size_t count,
			    loff_t *pos)
{
	const struct opk_number *n = file_inode(file)->i_private;
	char line[OPK_LINE];
	u64 value;
	int rc;

	rc = opk_take_line(line, buf, count, *pos);
	if (rc == -EFAULT)
		return rc;
	if (!rc)
		rc = parse_number(line, &value);
	if (rc || value < n->min || value > n->max) {
		pr_info("%s: must be a number from %llu to %llu, decimal or with 0x\n",
			n->name, n->min, n->max);
		return -EINVAL;
	}
	rc = opk_setting_store(n->value, value);
	return rc ? rc : count;
}

OPK_SHOW(number, number_write);

static struct inode *make_inode(struct super_block *sb, umode_t mode)
{
	struct inode *inode = new_inode(sb);

	if (!inode)
		return NULL;
	inode->i_ino = get_next_ino();
	inode->i_mode = mode;
	opk_inode_times(inode);
	return inode;
}

struct dentry *opk_mkdir(struct super_block *sb, struct dentry *parent, const char *name)
{
	struct dentry *dentry = d_alloc_name(parent, name);
	struct inode *inode;

	if (!dentry)
		return ERR_PTR(-ENOMEM);
	inode = make_inode(sb, S_IFDIR | 0755);
	if (!inode) {
		dput(dentry);
		return ERR_PTR(-ENOMEM);
	}
	inode->i_op = &simple_dir_inode_operations;
	inode->i_fop = &simple_dir_operations;
	set_nlink(inode, 2);
	inc_nlink(d_inode(parent));
	opk_d_add(dentry, inode);
	return dentry;
}
EXPORT_SYMBOL_GPL(opk_mkdir);

int opk_create(struct super_block *sb, struct dentry *parent, const char *name,
	       umode_t mode, const struct file_operations *fops, void *private)
{
	struct dentry *dentry = d_alloc_name(parent, name);
	struct inode *inode;

	if (!dentry)
		return -ENOMEM;
	inode = make_inode(sb, S_IFREG | mode);
	if (!inode) {
		dput(dentry);
		return -ENOMEM;
	}
	inode->i_fop = fops;
	inode->i_private = private;
	opk_d_add(dentry, inode);
	return 0;
}
EXPORT_SYMBOL_GPL(opk_create);

int opk_create_number(struct super_block *sb, struct dentry *parent,
		      const struct opk_number *n)
{
	return opk_create(sb, parent, n->name, 0644, &number_fops, (void *)n);
}
EXPORT_SYMBOL_GPL(opk_create_number);

static const struct super_operations super_ops = {
	.statfs = simple_statfs,
	.drop_inode = opk_drop_inode,
};

static int fill_super(struct super_block *sb, struct fs_context *fc)
{
	struct inode *inode;

	sb->s_blocksize = PAGE_SIZE;
	sb->s_blocksize_bits = PAGE_SHIFT;
	sb->s_magic = OPROFILEFS_MAGIC;
	sb->s_op = &super_ops;
	sb->s_iflags |= SB_I_NOEXEC | SB_I_NODEV;
	inode = make_inode(sb, S_IFDIR | 0755);
	if (!inode)
		return -ENOMEM;
	inode->i_op = &simple_dir_inode_operations;
	inode->i_fop = &simple_dir_operations;
	set_nlink(inode, 2);
	sb->s_root = d_make_root(inode);
	if (!sb->s_root)
		return -ENOMEM;
	return opk_files_create(sb, sb->s_root);
}

static int get_tree(struct fs_context *fc)
{
	int rc = opk_permitted();

	if (rc)
		return rc;
	return get_tree_single(fc, fill_super);
}

static const struct fs_context_operations context_ops = {
	.get_tree = get_tree,
};

static int init_context(struct fs_context *fc)
{
	if (fc->user_ns != &init_user_ns)
		return -EPERM;
	fc->ops = &context_ops;
	return 0;
}

static void kill_sb(struct super_block *sb)
{
	/* No file can be opened any more, and no new mount is made before the end. */
	opk_control_drop_files();
	opk_kill_super(sb);
}

static struct file_system_type fs_type = {
	.owner = THIS_MODULE,
	.name = "oprofilefs",
	.init_fs_context = init_context,
	.kill_sb = kill_sb,
};
MODULE_ALIAS_FS("oprofilefs");

int opk_fs_init(void)
{
	return register_filesystem(&fs_type);
}

void opk_fs_exit(void)
{
	unregister_filesystem(&fs_type);
}
