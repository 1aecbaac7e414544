/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_LINES_READ_H
#define LIBSYM_LINES_READ_H

#include <stddef.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "libsym/job.h"
#include "libsym/lines.h"

/*
 * Reading lines in this process: what helpers do for their one job, and what tests and
 * fuzzers call.  Files are opened as libsym/image.h tells.
 */

/**
 * sym_lines_encode - appends the lines in the form of libsym/lines_wire.h
 * @ranges: any order; millions of single bytes are fine
 * Why there are none is told by the state.  Returns 0, -ENOMEM, -EFBIG.
 */
int sym_lines_encode(const struct sym_job *job, const struct sym_range *ranges, size_t nr,
		     unsigned flags, struct strbuf *out, struct err *err);

/* The lines themselves.  0, -ENOMEM, -EFBIG. */
int sym_lines_load(const struct sym_job *job, const struct sym_range *ranges, size_t nr,
		   unsigned flags, struct sym_lines **out, struct err *err);

/* @fd: an image that is open already (stays open); job->path is its name in messages. */
int sym_lines_load_fd(int fd, const struct sym_job *job, const struct sym_range *ranges,
		      size_t nr, unsigned flags, struct sym_lines **out, struct err *err);

#endif
