// SPDX-License-Identifier: GPL-2.0-or-later
#include "image_record.h"

#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/kdev_t.h>
#include <linux/string.h>

#include "build_id.h"
#include "compat.h"
#include "uapi/opfs_buffer.h"

/* Copies the path to @to, without the kernel's mark of a deleted file; its length. */
static size_t put_path(const struct path *path, bool deleted, char *to)
{
	static const char mark[] = " (deleted)";
	static char buf[OPK_MAX_PATH]; /* the synchroniser's */
	char *text = d_path(path, buf, sizeof(buf));
	size_t len;

	if (IS_ERR(text))
		return 0;
	len = strlen(text);
	if (deleted && len >= sizeof(mark) - 1 &&
	    !strcmp(text + len - (sizeof(mark) - 1), mark))
		len -= sizeof(mark) - 1;
	memcpy(to, text, len);
	return len;
}

/*
 * An overlay has no pages of its own: those of its executables belong to the file below.
 */
static unsigned int put_build_id(const struct file *file, u8 *id)
{
	const struct inode *inode = file_inode(file);
	const struct inode *real = d_real_inode(opk_file_path(file)->dentry);
	unsigned int len = opk_build_id(inode, id);

	return len || real == inode ? len : opk_build_id(real, id);
}

unsigned int opk_image_record(const struct file *file, u32 cookie, u64 *words)
{
	const struct path *path = opk_file_path(file);
	const struct inode *inode = d_inode(path->dentry);
	struct timespec64 mtime = opk_mtime(inode);
	bool deleted = d_unlinked(path->dentry);
	unsigned int id_len, len;
	size_t path_len;

	memset(words, 0, OPK_IMAGE_WORDS * sizeof(u64));
	id_len = put_build_id(file, (u8 *)&words[7]);
	path_len = put_path(path, deleted, (char *)&words[11]);
	len = 9 + DIV_ROUND_UP(path_len, 8);
	words[0] = OPK_ESCAPE;
	words[1] = OPK_HEAD(OPK_IMAGE, len, cookie);
	words[2] = (u64)MAJOR(inode->i_sb->s_dev) << 32 | MINOR(inode->i_sb->s_dev);
	words[3] = inode->i_ino;
	words[4] = inode->i_generation | (u64)id_len << 32 |
		   (u64)(deleted ? OPK_IMAGE_DELETED : 0) << 40;
	words[5] = timespec64_to_ns(&mtime);
	words[6] = i_size_read(inode);
	words[10] = path_len;
	return len + 2;
}
