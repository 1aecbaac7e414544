/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_WHO_JIT_ASK_H
#define COLLECTOR_WHO_JIT_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

/*
 * Questions about names of code made at run time, for a helper (collector/who/asker.h).
 *
 * COLL_ASK_JIT_HOLD: a process that runs such code; the question is its number as
 * uint32_t.  The answer is a struct coll_jit_held and the path of its jitdump, and with
 * it comes its /tmp, as a descriptor of O_PATH, which lasts longer than the process.
 *
 * COLL_ASK_JIT_FETCH: its names; a struct coll_jit_fetch, regions, and the path of a
 * jitdump.  The answer is a struct coll_jit_fetched and lines for `status`, and with it
 * comes a file of lines for spec_jit_append(), if there are any.
 */
#define COLL_JIT_NOTE "names of code made at run time: " /* begins lines for `status` */

enum {
	COLL_JIT_MAX_REGIONS = 3000,
	COLL_JIT_MAX_BYTES = 64 << 20, /* that are read of a map */
};

struct coll_jit_held {
	int32_t code;   /* 0; -ESRCH: it has ended; another -errno */
	uint32_t nspid; /* its number in its own PID namespace */
	uint32_t uid;   /* the effective user */
	uint32_t path_len;
	uint64_t start_ns; /* CLOCK_MONOTONIC, in ticks */
	uint64_t inode;    /* of the jitdump */
};

struct coll_jit_region {
	uint64_t start, end;
};

struct coll_jit_fetch {
	uint32_t tgid, nspid;
	uint32_t uid;    /* whose the files must be, unless root's; or COLL_UID_UNKNOWN */
	uint32_t asking; /* process that has @tmp_fd */
	int32_t tmp_fd;  /* its /tmp; -1: not held */
	uint32_t nr_regions;   /* by address, disjoint */
	uint64_t not_before_s; /* an older map is another process's; since 1970 */
	uint64_t inode;        /* of the jitdump; 0: unknown */
};

struct coll_jit_fetched {
	uint32_t found;    /* files */
	uint32_t nr_codes; /* in the file that comes with this */
};

/**
 * coll_jit_take_question - takes a question about a process apart
 * @regions: of q->nr_regions; points into it, as @dump does, the path of a jitdump
 * Returns false if it is none.
 */
bool coll_jit_take_question(const char *question, size_t len, struct coll_jit_fetch *q,
			    const struct coll_jit_region **regions, const char **dump);

void coll_jit_answer_hold(char *question, size_t len, struct strbuf *out, int *file);
void coll_jit_answer_fetch(char *question, size_t len, struct strbuf *out, int *file);

#endif
