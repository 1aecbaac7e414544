/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_REGULAR_H
#define BASE_REGULAR_H

#include <sys/stat.h>

/*
 * Opening a regular file for reading, and nothing else, where the path is somebody else's
 * word: opening a device, or the end of a FIFO, does something.
 */

/* A descriptor, or -errno; -EINVAL: no regular file.  @st is set if that can be told. */
int regular_open(const char *path, struct stat *st);

/* The same for what a descriptor of O_PATH stands for. */
int regular_reopen(int at, struct stat *st);

/**
 * regular_open_at - the same for a file of another mount namespace or root directory
 * @at: a directory ("/proc/PID/root") that @path is looked up in, as if it were the root:
 *	no link, and no "..", leads out of it; or the file itself ("/proc/PID/fd/N")
 * -ESRCH: there is no @at.
 */
int regular_open_at(const char *at, const char *path, struct stat *st);

#endif
