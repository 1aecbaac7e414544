/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/profile/held.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

int profile_held_add(struct profile_held *h, int fd)
{
	struct profile_held_file f = { .fd = fd };
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || fcntl(fd, F_SETFD, FD_CLOEXEC))
		return -EINVAL;
	f.dev = st.st_dev;
	f.ino = st.st_ino;
	return vec_push(&h->files, f);
}

int profile_held_find(const struct profile_held *h, const struct spec_image_row *row)
{
	if (!h || !row || !spec_image_container(row))
		return -1;
	vec_for(&h->files, f)
		if (f->ino == row->inode &&
		    f->dev == makedev(row->dev_major, row->dev_minor))
			return f->fd;
	return -1;
}

void profile_held_fini(struct profile_held *h)
{
	vec_fini(&h->files);
}
