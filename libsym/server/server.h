/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_SERVER_SERVER_H
#define LIBSYM_SERVER_SERVER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "base/viewer.h"
#include "libsym/file/find.h"
#include "libsym/file/resolve.h"
#include "libsym/table/demangle.h"
#include "libsym/table/job.h"
#include "libsym/table/lines.h"
#include "libsym/table/source.h"
#include "libsym/table/symtab.h"
#include "libsym/wire/disasm.h"

/*
 * Reads binaries in helper processes, one for each job: jobs of the box sym_helper_box
 * (libsym/helper/helper.h), with the rights of the asking user, limits on processor
 * time, memory and waiting, without network and with nothing writable.  Answers are
 * checked before they are used, so a hostile binary spoils its own job only.  A program
 * that uses this has sym_helper_box among its boxes.
 */
struct sym_server;

struct sym_server_options {  /* zeros are the defaults */
	const char *program; /* what to start as helper; NULL: /proc/self/exe */
	unsigned max_jobs;   /* at once, fewer while memory is short; 0: twice
			      * the processors, 4 to 16 */
	bool remembers; /* answers are kept for the next run (libsym/server/answers.h) */
	bool fair;      /* several users ask: each has a share of them (base/share.h) */
	/* What a job may take: of processor time (0: 10), which is what a hostile binary
	 * costs, and of waiting for a disk without a pause (0: 30000).  A busy machine
	 * costs neither. */
	unsigned cpu_s, blocked_ms;
};

/* Starts nothing yet.  @opts may be NULL.  NULL if out of memory. */
struct sym_server *sym_server_new(const struct sym_server_options *opts);
/* No call may be in progress.  Ends the helper.  NULL is fine. */
void sym_server_free(struct sym_server *s);

/* Grows when a file may have come that was not found for lines or code before, as debug
 * files by `opfs fetch`: what was made without it may be better then.  Costs nothing but
 * a look, each two seconds, at what the kernel has in memory of them. */
uint64_t sym_server_arrivals(struct sym_server *s);

/**
 * sym_server_load - the symbols of an image
 * @job: borrowed for the call
 * @cancel: when it becomes true the job is killed; may be NULL
 * @out: a table with one reference, also when there are no symbols: its state and
 *	reason say why.  A job whose helper died, or that waited too long, is SYM_BROKEN.
 * Blocks the calling thread; any number of threads may call.
 * Returns 0; -EINTR if cancelled; -ENOMEM; another errno if helpers cannot be started.
 */
int sym_server_load(struct sym_server *s, const struct sym_job *job,
		    const atomic_bool *cancel, struct sym_table **out, struct err *err);

/**
 * sym_server_answer - the bytes of an answer, as they came and unchecked
 * @request: a whole one, see libsym/wire/request.h
 * Returns 0; -EIO if there is none, with the reason; else as sym_server_load().
 */
int sym_server_answer(struct sym_server *s, const struct strbuf *request,
		      const atomic_bool *cancel, struct strbuf *out, struct err *err);

/* Names in one block: free() frees all. */
struct sym_names {
	size_t nr;
	const char *name[];
};

/**
 * sym_server_demangle - demangled spellings of many names at once
 * @names: as struct sym gives them
 * @v: who asks; may be NULL
 * @out: as many names; one that is not mangled is given back as it is
 * Returns 0, -EINTR, -ENOMEM; -EBADMSG if a name broke the demangler: show them raw.
 */
int sym_server_demangle(struct sym_server *s, const char *const *names, size_t nr,
			enum sym_demangle_style style, const struct viewer *v,
			struct sym_names **out, struct err *err);

/**
 * sym_server_lines - source lines of parts of an image
 * @ranges: any order, millions of single bytes are fine
 * @flags: SYM_LINES_INLINES and SYM_LINES_ONLY_INLINES, or 0
 * Returns as sym_server_load(): a result that has no lines says why.
 */
int sym_server_lines(struct sym_server *s, const struct sym_job *job,
		     const struct sym_range *ranges, size_t nr, unsigned flags,
		     const atomic_bool *cancel, struct sym_lines **out, struct err *err);

/**
 * sym_server_disasm - code of parts of an image
 * @options: what follows objdump's -M ("intel"); "" for none; NULL: bytes only
 * -EINVAL for options that this processor's disassembler does not have; else as
 * sym_server_load().
 */
int sym_server_disasm(struct sym_server *s, const struct sym_job *job,
		      const struct sym_range *ranges, size_t nr, const char *options,
		      const atomic_bool *cancel, struct sym_disasm **out,
		      struct err *err);

/**
 * sym_server_source - the first of some paths that is a regular file
 * @cred: whose rights open it; NULL: this process
 * @out: its text, or why there is none: of a file that this user may not read nothing is
 *	told but that.  Free it with sym_text_free().
 * Returns as sym_server_load().
 */
int sym_server_source(struct sym_server *s, const char *const *paths, size_t nr,
		      const struct cred *cred, const atomic_bool *cancel,
		      struct sym_text **out, struct err *err);

/**
 * sym_server_resolve - where a path leads for a user
 * @path: absolute
 * @cred: whose rights; NULL: this process's
 * @out: zeroed.  What a file system does not answer in 2 s is as if it were not there:
 *	who looks up a name waits for this.
 * Returns 0; -EINTR; -ENOMEM; another errno if helpers cannot be started.
 */
int sym_server_resolve(struct sym_server *s, const char *path, const struct cred *cred,
		       const atomic_bool *cancel, struct sym_resolved *out,
		       struct err *err);

/**
 * sym_server_open - opens a file for reading, in a helper
 * @path: as for sym_open_kernel(): a regular file
 * @cred: whose rights; NULL: this process's
 * Returns a descriptor; -EACCES, -ENOENT ... as that; -EIO if the helper came to an end;
 * else as sym_server_resolve().
 */
int sym_server_open(struct sym_server *s, const char *path, const struct cred *cred,
		    const atomic_bool *cancel, struct err *err);

/**
 * sym_server_find - all files of some names
 * @cred: whose rights; NULL: this process's
 * Returns 0; -EINVAL if a directory cannot be read, with a message that names it; -EINTR;
 * -ENOMEM; -EIO if the helper came to an end, a dead directory for instance; another
 * errno if helpers cannot be started.
 */
int sym_server_find(struct sym_server *s, const struct sym_wanted *w,
		    const struct cred *cred, const atomic_bool *cancel,
		    struct sym_found **out, struct err *err);

#endif
