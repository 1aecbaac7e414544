/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_SERVER_CACHE_H
#define LIBSYM_SERVER_CACHE_H

#include <stdatomic.h>

#include "base/cache.h"
#include "base/err.h"
#include "libsym/server/server.h"
#include "libsym/table/job.h"
#include "libsym/table/symtab.h"

/*
 * Symbol tables that were loaded before, in a cache that may hold other things too.  A
 * table loaded with the rights of one user (uid, gid, groups) is found again only for
 * that user, and only while stat(2) shows the same file.  The stat cannot block: a path
 * into a dead mount, or into the mount that asks, occupies a helper and nothing else.  A
 * table that may improve (the file is missing, only exported names are known) expires
 * after 10 seconds.  Any number of threads may call.
 */
struct sym_cache;

/* Both are borrowed and must outlive it.  NULL: out of memory. */
struct sym_cache *sym_cache_new(struct sym_server *server, struct cache *cache);
/* No call may be in progress.  The tables stay in the cache. */
void sym_cache_free(struct sym_cache *c);

/* As sym_server_load(), from the cache where possible. */
int sym_cache_load(struct sym_cache *c, const struct sym_job *job,
		   const atomic_bool *cancel, struct sym_table **out, struct err *err);

/* The server behind it, for what is not cached. */
struct sym_server *sym_cache_server(struct sym_cache *c);

#endif
