/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_CODE_DISASM_H
#define LIBSYM_CODE_DISASM_H

#include "base/err.h"
#include "base/strbuf.h"
#include "libsym/table/job.h"
#include "libsym/wire/disasm.h"

/**
 * sym_disasm_encode - opens an image and disassembles parts of it
 * @ranges: offsets as in struct sym; any order
 * @options: as objdump's -M; "" for none; NULL: bytes only
 * @out: appended to, in the form of libsym/wire/disasm_wire.h
 * Meant for a helper: it reads a file that somebody else made.  What cannot be done with
 * the image is told by the answer's state.  Returns 0; -EINVAL, with the allowed
 * options, for options that the machine's disassembler does not have; -EFBIG; -ENOMEM.
 */
int sym_disasm_encode(const struct sym_job *job, const struct sym_range *ranges,
		      size_t nr, const char *options, struct strbuf *out,
		      struct err *err);
/* @fd: an image that is open already (stays open); job->path is its name in messages. */
int sym_disasm_encode_fd(int fd, const struct sym_job *job,
			 const struct sym_range *ranges, size_t nr, const char *options,
			 struct strbuf *out, struct err *err);

#endif
