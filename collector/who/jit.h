/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_WHO_JIT_H
#define COLLECTOR_WHO_JIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "collector/who/asker.h"
#include "collector/who/jit_ask.h"
#include "collector/who/tasks.h"

/*
 * Names of code made at run time.  Runtimes write them to files for perf:
 * /tmp/perf-PID.map, and jitdumps, which they map.  Of each process that was sampled in
 * memory without a file they are looked for when it ends or executes another program, and
 * when the session does, and kept in the session (libspec/jit/jit_file.h).  Its /tmp is
 * held from its first such sample on, for it may be another one than ours, and is gone
 * with the process.  All of it is done by helpers (collector/who/jit_ask.h).
 */
struct coll_jit_dir; /* a /tmp, which many processes share */
struct coll_jit_proc;

struct coll_jit {
	struct map_u64 by_id;   /* -> struct coll_jit_proc; heap */
	struct map_u64 by_tgid; /* those of them that run */
	uint64_t last_id;
	VEC(struct coll_jit_dir *) dirs;
	struct coll_asker *asker; /* borrowed; NULL: everything is looked at at once */
	int session_fd;           /* -1: names are not kept */
	uint64_t session;         /* counts them */
	uint64_t taken;           /* bytes of its names, as spec_jit_append() has it */
	uint64_t began_ns; /* CLOCK_MONOTONIC: all older processes were known then */
	uint64_t answers;  /* how many processes were looked at */
	bool news;         /* the session has more names: set here, reset by who tells */
	bool off;          /* a recorded stream: processes are others by now */
	uint64_t unseen; /* processes that had ended before their /tmp could be held, and
			  * whose names were not found in ours */
};

void coll_jit_init(struct coll_jit *j, int session_fd);
void coll_jit_fini(struct coll_jit *j);

/* Memory without a file in which the process was sampled for the first time. */
void coll_jit_region(struct coll_jit *j, const struct coll_task *task, const char *label,
		     uint64_t start, uint64_t end);

enum coll_jit_knows { COLL_JIT_KNOWS_NOTHING, COLL_JIT_KNOWS_LATER, COLL_JIT_KNOWS };
enum coll_jit_told { COLL_JIT_TOLD, COLL_JIT_TOLD_NOTHING, COLL_JIT_TOLD_BY_NOBODY };

/**
 * coll_jit_unwinding - may files of the process tell how code in a region is unwound?
 * @question: COLL_ASK_JIT_TABLE, which finds out; added with COLL_JIT_KNOWS
 * @asked: for coll_jit_knew(), which must follow then
 * COLL_JIT_KNOWS_LATER: @j->answers will be another number when that is known.
 */
enum coll_jit_knows coll_jit_unwinding(struct coll_jit *j, uint32_t tgid,
				       const struct coll_jit_region *region,
				       struct strbuf *question, uint64_t *asked);
/* What came of it.  Where nothing is told, they are not asked again for a while. */
void coll_jit_knew(struct coll_jit *j, uint64_t asked, enum coll_jit_told told);

/* The process has ended, or executed another program: its names are asked for. */
void coll_jit_end(struct coll_jit *j, uint32_t tgid);
/* Asks for the names of all processes that may have more: the session is to be closed. */
void coll_jit_fetch(struct coll_jit *j);
/* Says in the session what could not be found, once nobody is asked any more. */
void coll_jit_tell(struct coll_jit *j);
/* Goes on in another session. */
void coll_jit_move(struct coll_jit *j, int session_fd);

#endif
