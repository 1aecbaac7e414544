/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_DWARF_LINES_H
#define LIBSYM_DWARF_LINES_H

#include <stddef.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "libsym/table/job.h"
#include "libsym/table/lines.h"

/*
 * Reading lines in this process: what helpers do for their one job, and what tests and
 * fuzzers call.  Files are opened as libsym/helper/image.h tells.
 */

/**
 * sym_lines_encode - appends the lines in the form of libsym/wire/lines_wire.h
 * @ranges: any order; millions of single bytes are fine
 * Why there are none is told by the state.  Returns 0, -ENOMEM, -EFBIG.
 */
int sym_lines_encode(const struct sym_job *job, const struct sym_range *ranges, size_t nr,
		     unsigned flags, struct strbuf *out, struct err *err);

/* The lines themselves.  0, -ENOMEM, -EFBIG. */
int sym_lines_load(const struct sym_job *job, const struct sym_range *ranges, size_t nr,
		   unsigned flags, struct sym_lines **out, struct err *err);

#endif
