/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_WIRE_REQUEST_H
#define LIBSYM_WIRE_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "libsym/table/demangle.h"
#include "libsym/table/job.h"

/*
 * What goes over a job's socket: a frame to the helper, a frame back, and behind that
 * the trailer of the box (base/box/box.h).  Behind an answer that may be used again comes
 * the list of what it was made from.
 */
#define SYM_REQUEST_MAGIC 0x71526d79u
#define SYM_ANSWER_MAGIC 0x6e416d79u
#define SYM_REQUEST_MAX (64u << 20)

/* Exit statuses of a job's process; any other status but 0 is a crash. */
enum {
	SYM_HELPER_FAILED = 70,
	SYM_HELPER_NO_MEMORY,
	SYM_HELPER_TOO_BIG,
	SYM_HELPER_REFUSED, /* a senseless request; the answer is the reason */
};

struct sym_frame {
	uint32_t magic, len; /* bytes behind this, */
	uint32_t seen;       /* and of the list behind these (libsym/file/seen.h) */
	uint32_t listed;     /* bool: all that the answer was made from is in the list */
};

enum sym_request_kind {
	SYM_REQUEST_LOAD,
	SYM_REQUEST_DEMANGLE,
	SYM_REQUEST_LINES,
	SYM_REQUEST_DISASM,
	SYM_REQUEST_SOURCE,
	SYM_REQUEST_FIND,
	SYM_REQUEST_RESOLVE,
	SYM_REQUEST_OPEN,
	SYM_NR_REQUESTS,
};

struct sym_parts { /* which part of an image is asked for, and in which form */
	const struct sym_range *ranges;
	size_t nr;
	uint32_t flags;      /* SYM_LINES_INLINES */
	const char *options; /* of the disassembler; NULL: bytes only */
};

/* Each makes a whole request, with its frame, in an empty buffer. */
void sym_request_load(const struct sym_job *job, struct strbuf *out);
void sym_request_demangle(const char *const *names, size_t nr,
			  enum sym_demangle_style style, struct strbuf *out);
/* @kind: LINES or DISASM. */
void sym_request_parts(enum sym_request_kind kind, const struct sym_job *job,
		       const struct sym_parts *parts, struct strbuf *out);
/* @kind: SOURCE; RESOLVE or OPEN of one path.  @cred: whose rights open the files; NULL:
 * this process's. */
void sym_request_paths(enum sym_request_kind kind, const char *const *paths, size_t nr,
		       const struct cred *cred, struct strbuf *out);

struct sym_wanted;
void sym_request_find(const struct sym_wanted *w, const struct cred *cred,
		      struct strbuf *out);

#define SYM_MAX_GROUPS 65536

struct sym_request { /* decoded in place: points into the bytes */
	uint32_t kind;
	struct sym_job job;
	struct sym_places places;
	struct cred cred;
	const struct cred *who; /* whose rights to take on; NULL: none */
	struct sym_parts parts; /* the ranges are heap: sym_request_fini() */
	struct sym_range *ranges;
	uint32_t style, nr_names;
	uint32_t nr_dirs;  /* of a FIND: this many of @names are directories */
	const char *names; /* NUL-terminated, one behind the other; or paths */
	size_t names_len;
};

/* @data: behind the frame, aligned to 4.  0, -EBADMSG, -ENOMEM. */
int sym_request_parse(const void *data, size_t len, struct sym_request *out,
		      struct err *err);
void sym_request_fini(struct sym_request *r);

#endif
