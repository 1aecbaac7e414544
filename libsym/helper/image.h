/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_HELPER_IMAGE_H
#define LIBSYM_HELPER_IMAGE_H

#include "base/err.h"
#include "base/strbuf.h"
#include "libsym/table/job.h"
#include "libsym/table/symtab.h"

/*
 * Loading in this process: what helpers do for their one job, and what tests and fuzzers
 * call.  Files are opened with the rights of this process; where job->cred is somebody
 * else, only what their modes show that he may read (cred_allows()).
 * Both always give a table whose state and reason tell how it went; they return 0 or
 * -ENOMEM.
 */
int sym_table_load(const struct sym_job *job, struct sym_table **out, struct err *err);

/* @fd: an image that is open already (stays open); job->path is its name in messages. */
int sym_table_load_fd(int fd, const struct sym_job *job, struct sym_table **out,
		      struct err *err);

/* Appends the table in the form of libsym/wire/wire.h: what a helper sends. */
int sym_table_encode(const struct sym_job *job, struct strbuf *out, struct err *err);

#endif
