/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_CACHE_H
#define LIBSYM_CACHE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "libsym/demangle.h"
#include "libsym/job.h"
#include "libsym/server.h"
#include "libsym/symtab.h"

/*
 * Symbol tables, lines and code that were loaded before, a bounded number of bytes of
 * them.  What was loaded with the rights of one user (uid, gid, groups) is only found
 * again for that user, and only while stat(2) shows the same file; it is asked in a way
 * that cannot block, so that a path into a dead or into the own mount costs a helper
 * only.  What could become better (missing file, exported names only) is asked for again
 * after 10 seconds.  Any number of threads may call; two that want the same thing at once
 * load it once.
 */
struct sym_cache;

/**
 * sym_cache_new - an empty cache
 * @server: borrowed; must outlive the cache
 * @max_bytes: bound on what is kept; what is in use elsewhere is not counted twice
 */
struct sym_cache *sym_cache_new(struct sym_server *server, size_t max_bytes);
/* No call may be in progress.  Tables still referenced elsewhere live on. */
void sym_cache_free(struct sym_cache *c);

/* As sym_server_load(), from the cache where possible. */
int sym_cache_load(struct sym_cache *c, const struct sym_job *job,
		   const atomic_bool *cancel, struct sym_table **out, struct err *err);

/* As sym_server_lines() and sym_server_disasm(): found again for the same ranges. */
int sym_cache_lines(struct sym_cache *c, const struct sym_job *job,
		    const struct sym_range *ranges, size_t nr, unsigned flags,
		    const atomic_bool *cancel, struct sym_lines **out, struct err *err);
int sym_cache_disasm(struct sym_cache *c, const struct sym_job *job,
		     const struct sym_range *ranges, size_t nr, const char *options,
		     const atomic_bool *cancel, struct sym_disasm **out, struct err *err);

/* The server behind it, for sym_server_demangle(). */
struct sym_server *sym_cache_server(struct sym_cache *c);

struct sym_cache_stats {
	uint64_t hits, misses, evicted;
	size_t entries, bytes;
};

void sym_cache_stats(struct sym_cache *c, struct sym_cache_stats *out);

#endif
