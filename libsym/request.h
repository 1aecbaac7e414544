/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_REQUEST_H
#define LIBSYM_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "libsym/demangle.h"
#include "libsym/job.h"

/*
 * What goes over a job's socket: a frame to the helper, a frame back, and behind it the
 * trailer, which the parent of all helpers writes when the job's process has ended.
 */
#define SYM_REQUEST_MAGIC 0x71526d79u
#define SYM_ANSWER_MAGIC 0x6e416d79u
#define SYM_TRAILER_MAGIC 0x72546d79u
#define SYM_REQUEST_MAX (64u << 20)

struct sym_frame {
	uint32_t magic, len; /* bytes behind this */
};

enum sym_end { SYM_END_ITSELF, SYM_END_DEADLINE };

struct sym_trailer {
	uint32_t magic;
	int32_t status; /* as waitpid() */
	uint32_t end;   /* enum sym_end */
};

enum sym_request_kind { SYM_REQUEST_LOAD, SYM_REQUEST_DEMANGLE };

/* Each makes a whole request, frame included, in an empty buffer. */
void sym_request_load(const struct sym_job *job, struct strbuf *out);
void sym_request_demangle(const char *const *names, size_t nr,
			  enum sym_demangle_style style, struct strbuf *out);

#define SYM_MAX_GROUPS 65536

struct sym_request { /* decoded in place: points into the bytes */
	uint32_t kind;
	struct sym_job job;
	struct sym_places places;
	struct sym_cred cred;
	uint32_t style, nr_names;
	const char *names; /* NUL-terminated, one behind the other */
	size_t names_len;
};

/* @data: behind the frame, aligned to 4.  0 or -EBADMSG. */
int sym_request_parse(const void *data, size_t len, struct sym_request *out,
		      struct err *err);

#endif
