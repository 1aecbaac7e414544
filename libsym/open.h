/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_OPEN_H
#define LIBSYM_OPEN_H

#include <stdbool.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "libsym/job.h"

/**
 * sym_open - opens a regular file for reading, and nothing else
 * @cred: who wants it, where his rights could not be taken; see sym_cred_may_read()
 * Devices, pipes and sockets are refused without being opened: that alone can have
 * effects.  Returns a descriptor, or -errno with a message; -EINVAL: no regular file.
 */
int sym_open(const char *path, const struct sym_cred *cred, struct err *err);

/* Appends the directory of a file that is open, so that its links were followed. */
bool sym_open_directory(int fd, struct strbuf *out);

#endif
