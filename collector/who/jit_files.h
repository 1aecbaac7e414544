/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_WHO_JIT_FILES_H
#define COLLECTOR_WHO_JIT_FILES_H

#include <stdint.h>

#include "base/strbuf.h"
#include "collector/who/jit_ask.h"

/*
 * The files in which a process tells of the code that it makes: /tmp/perf-PID.map, and
 * its jitdump.  They may be anybody's: links are not followed, and they must be regular
 * files of the process's user or of root, and no older than the process.
 */
struct coll_jit_files {
	const struct coll_jit_fetch *q; /* whose; borrowed */
	const char *dump_path;          /* "": it has none; borrowed */
	char map_path[48];
	uint32_t nspid; /* the number in the name of the map */
	/* the first COLL_JIT_MAX_BYTES of each; empty: missing, or refused */
	struct strbuf map, dump;
	uint32_t found;      /* files that are there, also those that were refused */
	struct strbuf lines; /* for `status`: what is wrong */
};

/* Reads both; @dump_path: "": none is known.  What cannot be read is told in @lines. */
void coll_jit_files_read(struct coll_jit_files *f, const struct coll_jit_fetch *q,
			 const char *dump_path);
void coll_jit_files_fini(struct coll_jit_files *f);

/* Adds a line of what is wrong with a file. */
void coll_jit_files_tell(struct coll_jit_files *f, const char *path, const char *why);

#endif
