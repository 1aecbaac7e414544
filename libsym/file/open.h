/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_FILE_OPEN_H
#define LIBSYM_FILE_OPEN_H

#include <stdbool.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "libsym/table/job.h"

/**
 * sym_open - opens a regular file for reading, and nothing else
 * @cred: the user, if this process could not take on his rights; see cred_may_read()
 * Devices, pipes and sockets are refused without being opened, since opening alone can
 * have effects.  Returns a descriptor, or -errno with a message; -EINVAL: not a regular
 * file.
 */
int sym_open(const char *path, const struct cred *cred, struct err *err);

/*
 * The same for job->at, before the sandbox.  A descriptor, or -errno: -ESRCH if the file,
 * or all of its container, is gone; -EACCES also if job->cred is somebody else, for who
 * may look into a container is the kernel's to say.
 */
int sym_open_at(const struct sym_job *job);

/* Appends the directory of an open file, all links followed. */
bool sym_open_directory(int fd, struct strbuf *out);

#endif
