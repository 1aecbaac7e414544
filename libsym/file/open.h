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

/* Appends the directory of an open file, all links followed. */
bool sym_open_directory(int fd, struct strbuf *out);

#endif
