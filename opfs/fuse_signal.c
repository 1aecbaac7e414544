/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/fuse_fs.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define BIT(signal) (1ull << ((signal)-1))

/*
 * Signals that programs catch while they go on with what they do: children that end,
 * windows that change, timers of profilers and runtimes.  Their stat() must not fail for
 * those: hardly any program asks again after EINTR.
 */
static const unsigned long long harmless =
	BIT(SIGCHLD) | BIT(SIGWINCH) | BIT(SIGURG) | BIT(SIGPROF) | BIT(SIGVTALRM) |
	BIT(SIGIO) | BIT(SIGCONT) | BIT(SIGTSTP) | BIT(SIGTTIN) | BIT(SIGTTOU);

/* A line "NAME:\tHEX" of /proc/TID/status; 0 if it is not there. */
static unsigned long long mask(const char *status, const char *name)
{
	const char *at = strstr(status, name);

	return at ? strtoull(at + strlen(name), NULL, 16) : 0;
}

/*
 * The kernel says that a thread was interrupted, once, and not by what.  A signal that
 * ends a process shows as SIGKILL in all its threads.
 */
bool fs_gives_up(pid_t tid)
{
	CLEANUP(close_fd) int fd = -1;
	char path[64], status[4096];
	unsigned long long pending;
	ssize_t len;

	if (tid <= 0)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	len = fd < 0 ? -1 : read(fd, status, sizeof(status) - 1);
	if (len <= 0)
		return true;
	status[len] = '\0';
	pending = mask(status, "\nSigPnd:\t") | mask(status, "\nShdPnd:\t");
	pending &= ~mask(status, "\nSigBlk:\t") & ~mask(status, "\nSigIgn:\t");
	return pending & ~harmless;
}
