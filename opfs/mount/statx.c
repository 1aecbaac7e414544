/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/mount/statx.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

bool statx_wants_no_size(pid_t tid)
{
	char path[48], line[256];
	CLEANUP(close_fd) int fd = -1;
	unsigned long mask;
	ssize_t got;
	long nr;

	if (tid <= 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd >= 0 ? read(fd, line, sizeof(line) - 1) : -1;
	if (got <= 0)
		return false;
	line[got] = '\0';
	/* its number, and of the arguments the fourth */
	if (sscanf(line, "%ld %*x %*x %*x %lx", &nr, &mask) != 2 || nr != SYS_statx)
		return false;
	return !(mask & (STATX_SIZE | STATX_BLOCKS));
}
