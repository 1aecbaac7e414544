/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_FILE_OPEN_H
#define LIBSYM_FILE_OPEN_H

#include <stdbool.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "libsym/table/job.h"

/**
 * sym_open - opens a regular file for reading, and nothing else
 * @path: absolute; looked up as libsym/file/walk.h does it
 * @cred: the user, if this process could not take on his rights: modes decide then
 * Devices, pipes and sockets are refused without being opened, since opening alone can
 * have effects.  Returns a descriptor, or -errno with a message; -EINVAL: not a regular
 * file; -EXDEV: where nothing is read.
 */
int sym_open(const char *path, const struct cred *cred, struct err *err);

/* Does the path lead to a regular file, whether sym_open() may open it or not? */
bool sym_is_regular(const char *path, const struct cred *cred);

/*
 * As sym_open() for job->at, before the sandbox.  A descriptor, or -errno: -ESRCH if the
 * file, or all of its container, is gone; -EACCES also if job->cred is somebody else, for
 * who may look into a container is the kernel's to say.
 */
int sym_open_at(const struct sym_job *job);

/* As sym_open(), or a text of the running kernel that opfs itself knows by its path. */
int sym_open_kernel(const char *path, const struct cred *cred, struct err *err);

/* Appends a text of the running kernel, or the copy of one in an archive; as
 * file_slurp(). */
int sym_slurp(const char *path, size_t max, struct strbuf *out, struct err *err);

/* Appends the directory of an open file, all links followed. */
bool sym_open_directory(int fd, struct strbuf *out);

#endif
