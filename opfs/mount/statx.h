/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_MOUNT_STATX_H
#define OPFS_MOUNT_STATX_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * statx_wants_no_size - does a thread wait in a statx(2) that asks for no size?
 * @tid: it has sent the request that is answered; 0: of another pid namespace
 * FUSE does not say which attributes GETATTR is for, and the size of a file is that of a
 * report that has to be made.  /proc/TID/syscall does, see proc(5); false where this
 * process may not read it.
 */
bool statx_wants_no_size(pid_t tid);

#endif
