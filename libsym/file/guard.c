/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/file/guard.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include "base/cleanup.h"

/* By the type that statfs() tells, as 32 bits.  The last one is the driver's. */
static const unsigned refused[] = {
	PROC_SUPER_MAGIC,
	SYSFS_MAGIC,
	TRACEFS_MAGIC,
	DEBUGFS_MAGIC,
	SECURITYFS_MAGIC,
	SELINUX_MAGIC,
	SMACK_MAGIC,
	AAFS_MAGIC,
	CGROUP_SUPER_MAGIC,
	CGROUP2_SUPER_MAGIC,
	RDTGROUP_SUPER_MAGIC,
	BPF_FS_MAGIC,
	DEVPTS_SUPER_MAGIC,
	BINFMTFS_MAGIC,
	PSTOREFS_MAGIC,
	EFIVARFS_MAGIC,
	XENFS_SUPER_MAGIC,
	BINDERFS_SUPER_MAGIC,
	SOCKFS_MAGIC,
	PIPEFS_MAGIC,
	NSFS_MAGIC,
	ANON_INODE_FS_MAGIC,
	BDEVFS_MAGIC,
	DMA_BUF_MAGIC,
	DEVMEM_MAGIC,
	SECRETMEM_MAGIC,
	OPENPROM_SUPER_MAGIC,
	USBDEVICE_SUPER_MAGIC,
	0x62656570 /* configfs */,
	0x65735543 /* fusectl */,
	0x19800202 /* mqueue */,
	0x6f70726f /* oprofilefs */,
};

/* A line "ID PARENT MAJOR:MINOR ... - TYPE SOURCE OPTIONS"; blanks in it are escaped. */
static bool is_opfs(const char *line, dev_t dev)
{
	const char *type = strstr(line, " - ");
	unsigned major, minor;

	return type && !strncmp(type + 3, "fuse.opfs ", 10) &&
	       sscanf(line, "%*u %*u %u:%u", &major, &minor) == 2 &&
	       makedev(major, minor) == dev;
}

/*
 * By its number: what its paths are, mount --bind decides.  Only devices that are none
 * can be file systems of a process.
 */
static bool is_mount_of_opfs(dev_t dev)
{
	CLEANUP(close_file) FILE *f = NULL;
	CLEANUP(free_ptr) char *line = NULL;
	bool found = false;
	size_t room = 0;

	if (!major(dev))
		f = fopen("/proc/self/mountinfo", "re");
	while (f && !found && getline(&line, &room, f) > 0)
		found = is_opfs(line, dev);
	return found;
}

int sym_guard(int fd, dev_t dev, bool *autofs)
{
	struct statfs fs;

	*autofs = false;
	if (is_mount_of_opfs(dev)) /* first: statfs() asks it */
		return -EXDEV;
	if (fstatfs(fd, &fs))
		return -errno;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		if ((unsigned)fs.f_type == refused[i])
			return -EXDEV;
	*autofs = fs.f_type == AUTOFS_SUPER_MAGIC;
	return 0;
}
