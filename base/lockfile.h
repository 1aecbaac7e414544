/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_LOCKFILE_H
#define BASE_LOCKFILE_H

#include <stdbool.h>

#include "base/err.h"

/*
 * Whoever may open a file, if only to read it, may hold a lock on it (flock): so programs
 * lock only files that nobody else may open.
 */

/**
 * lockfile_take - makes the file @name in @dir_fd (mode 0600) and locks it
 * @dir_fd: a directory, or AT_FDCWD
 * @wait: for as long as somebody has the lock; else only for one that is just ending
 * @holder: the process that signed the file, if it is locked; NULL: do not say
 * A file that others may open is replaced, unless whoever signed it still runs as we do.
 * Returns the descriptor, which holds the lock, -EWOULDBLOCK without a message if it is
 * locked, -EINVAL if it is no file of its own, or another -errno.
 */
int lockfile_take(int dir_fd, const char *name, bool wait, int *holder, struct err *err);
/* Writes our process's number into the file.  0 or -errno. */
int lockfile_sign(int fd);

#endif
