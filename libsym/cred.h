/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_CRED_H
#define LIBSYM_CRED_H

#include <stdbool.h>

#include "base/err.h"
#include "libsym/job.h"

/* Takes the rights of @cred for good if this process is root; else nothing happens. */
int sym_cred_take(const struct sym_cred *cred, struct err *err);

/**
 * sym_cred_may_read - may somebody else read an open file?
 * For a process that could not take his rights.  Judged by owner, group and mode of the
 * file and of all directories above it; access lists are not looked at.  True at once
 * if @cred is NULL or this very user.
 */
bool sym_cred_may_read(const struct sym_cred *cred, int fd);

#endif
