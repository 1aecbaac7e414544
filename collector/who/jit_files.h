/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_WHO_JIT_FILES_H
#define COLLECTOR_WHO_JIT_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "collector/who/jit_ask.h"

/*
 * The files in which a process tells of the code that it makes: /tmp/perf-PID.map, and
 * its jitdump.  They may be anybody's, and who makes a mount namespace can put anything
 * there, so nothing is read that the process's user may not read: links are not followed,
 * nor is what is mounted over a map, and they must be regular files of that user, or of
 * root and for everybody, and no older than the process.
 */
struct coll_jit_files {
	const struct coll_jit_fetch *q; /* whose; borrowed */
	const char *dump_path;          /* "": it has none; borrowed */
	char map_path[48];
	uint32_t nspid; /* the number in the name of the map */
	uint32_t uid;   /* the process's user; or COLL_UID_UNKNOWN, which is nobody */
	/* the first COLL_JIT_MAX_BYTES of each; empty: missing, or refused */
	struct strbuf map, dump;
	uint32_t found;      /* files that are there, also those that were refused */
	struct strbuf lines; /* for `status`: what is wrong */
};

/* The /tmp of a process, of O_PATH, or -errno.  A link leads to where it leads the
 * process itself; one that must not be followed is opened itself, to be told of later.
 * -ESRCH: there is no such process, -EACCES: it may not be looked at, -ENOENT: it has
 * none. */
int coll_jit_open_tmp(uint32_t tgid);

/* Reads both; @dump_path: "": none is known.  What cannot be read is told in @lines. */
void coll_jit_files_read(struct coll_jit_files *f, const struct coll_jit_fetch *q,
			 const char *dump_path);
void coll_jit_files_fini(struct coll_jit_files *f);

/* Adds a line of what is wrong with a file. */
void coll_jit_files_tell(struct coll_jit_files *f, const char *path, const char *why);

#endif
