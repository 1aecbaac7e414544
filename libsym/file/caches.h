/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_FILE_CACHES_H
#define LIBSYM_FILE_CACHES_H

#include <stdbool.h>

#include "base/build_id.h"
#include "base/strbuf.h"
#include "libsym/table/job.h"

/*
 * Files that other programs keep by build-id for one user: clients of debuginfod servers
 * what they fetched, and perf the binaries that it recorded.
 */

/* Where they are for the user of this process, absolute; "" if that cannot be told. */
const char *sym_caches_debuginfod(void); /* $DEBUGINFOD_CACHE_PATH, $XDG_CACHE_HOME */
const char *sym_caches_perf(void);
/* Ours (libsym/server/answers.h): $OPFS_CACHE_DIR, also if empty; $XDG_CACHE_HOME */
const char *sym_caches_own(void);

enum sym_cached {
	SYM_CACHED_DEBUG, /* with symbols and debug information */
	SYM_CACHED_IMAGE, /* the program or library itself */
};

/**
 * sym_caches_path - one of the paths that a file could have
 * @i: from 0 on
 * @out: is overwritten
 * The file there may be anything.  False: there are no more.
 */
bool sym_caches_path(const struct sym_places *p, const struct build_id *id,
		     enum sym_cached what, unsigned i, struct strbuf *out);

/* As sym_open(); -EPERM if the file is neither root's nor p->owner's. */
int sym_caches_open(const struct sym_places *p, const char *path,
		    const struct cred *cred);

#endif
