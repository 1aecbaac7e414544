/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSPEC_JIT_JIT_FILE_H
#define LIBSPEC_JIT_JIT_FILE_H

#include <stdint.h>
#include <sys/stat.h>

#include "base/cred.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "libspec/jit/code.h"

/*
 * The names of code made at run time that a session keeps: samples/SESSION/jit/TGID, TGID
 * being the number in the names of the process's anonymous memory.  A first line
 * "# opfs jit 1", then lines as in perf's maps: start and size in hexadecimal, name.  The
 * last line that has an address wins.  Addresses tell where the memory of the process
 * was, so, as the table of regions, it is for the owner and the group of the session.
 */
#define SPEC_JIT_DIR "jit"
#define SPEC_JIT_HEADER "# opfs jit 1\n"
#define SPEC_JIT_FILE_MODE 0640
#define SPEC_JIT_FILE_MAX (128u << 20)    /* bytes */
#define SPEC_JIT_SESSION_MAX (512u << 20) /* of all processes */
#define SPEC_JIT_LINES_MAX (SPEC_JIT_FILE_MAX - 64)
#define SPEC_JIT_NOT_COUNTED UINT64_MAX

enum { SPEC_JIT_PATH = 32 };
/* "jit/TGID" */
void spec_jit_path(uint32_t tgid, char out[SPEC_JIT_PATH]);

/* Appends lines, from entry @first on, that take @most bytes together; returns the first
 * entry that it left. */
size_t spec_jit_lines(const struct spec_jit_list *l, size_t first, size_t most,
		      struct strbuf *out);

/**
 * spec_jit_append - adds lines to the file of a process, which is made if it is missing
 * @from: a descriptor of lines, from its beginning on
 * @taken: bytes of all files of the session, which are counted if it is
 *	SPEC_JIT_NOT_COUNTED; goes on with each call
 * -EFBIG: some or all were left out, since the file or those of the session would be too
 * long.  After another -errno it is as before.
 */
int spec_jit_append(int session_fd, uint32_t tgid, int from, uint64_t *taken,
		    struct err *err);

/**
 * spec_jit_read - reads the file of a process
 * @st: of the file, which says who may read it; may be NULL
 * @overlapped: see spec_jit_settle(), which was called; may be NULL
 * 0; -ENOENT: there is none; -EACCES; -EBADMSG: not a file of this version; -EFBIG;
 * another -errno.
 */
int spec_jit_read(int session_fd, uint32_t tgid, struct spec_jit_list *out,
		  struct stat *st, uint64_t *overlapped, struct err *err);

/* The same of bytes.  0, -EBADMSG, -ENOMEM. */
int spec_jit_parse(const char *text, size_t len, struct spec_jit_list *out,
		   uint64_t *overlapped, struct err *err);

#endif
