/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_ENGINE_COLLECT_H
#define COLLECTOR_ENGINE_COLLECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/strbuf.h"
#include "collector/engine/budget.h"
#include "collector/rec/deferred.h"
#include "collector/rec/ext.h"
#include "collector/rec/rec.h"
#include "collector/store/route.h"
#include "collector/store/sink.h"
#include "collector/store/stack_sink.h"
#include "collector/store/waiting.h"
#include "collector/who/asker.h"
#include "collector/who/images.h"
#include "collector/who/jit.h"
#include "collector/who/kernel.h"
#include "collector/who/origins.h"
#include "collector/who/tables.h"
#include "collector/who/tasks.h"
#include "libcfi/unwind.h"
#include "libspec/session/stats.h"

/* The user part of the sample that is looked at, by unwinding. */
struct coll_unwound {
	size_t nr;               /* 0: there is none */
	enum spec_stack_end end; /* why there are no more; 0: it is whole */
	struct cfi_frame frames[COLL_MAX_FRAMES]; /* the innermost first */
};

/*
 * The middle of the collector: takes the records of a source in order, keeps track of
 * processes, and counts each sample in its file or under the reason why not.
 */
struct coll_collect {
	struct coll_images images;
	struct coll_tasks tasks;
	struct coll_kernel kernel;
	struct coll_jit jit;
	struct coll_sink sink;
	struct coll_stack_sink stacks; /* with @callgraph */
	struct coll_stack stack;       /* of the sample that is looked at */
	struct coll_tables tables;     /* to unwind by */
	struct coll_unwound unwound;
	size_t max_frames;    /* of a stack, the kernel's included */
	uint64_t tables_seen; /* answers, when the records that wait were looked at */
	unsigned hurry;       /* nothing waits for tables: there is no room for it */
	/* answers questions about files and processes; NULL: they are read at once */
	struct coll_asker *asker;
	struct coll_waiting waiting;   /* counts that wait for the answers, */
	struct coll_deferred deferred; /* and records */
	uint64_t answers;   /* of the images table, when the counts were looked at */
	coll_consume take;  /* coll_collect_take(), for records that waited */
	unsigned replaying; /* such are being taken: nothing is asked again */
	int known_rc;       /* of the process that was asked about last */
	struct spec_stats stats;
	unsigned separate; /* enum coll_separate */
	bool tree;         /* samples of processes outside the tree are not ours */
	bool filter;       /* --image was given */
	bool callgraph;
	uint32_t self; /* whose samples are left out: the collector's own; 0: nobody's */
	bool *throttled;  /* by event: the kernel held it back; of the caller */
	uint64_t gaps;    /* how often records were lost */
	uint64_t last_ns; /* time of the newest record */
	uint64_t buried_gaps, buried_ns; /* when dead processes were looked for last */
	/* by CPU: the process that exited there last, whose number its very last samples
	 * lack; 0: none */
	uint32_t *exited;
	uint32_t nr_cpus;
	struct coll_budget budget; /* of what users' tasks do */
	/* of sources that resolve addresses themselves */
	struct coll_origins origins;
	uint64_t who_seq;       /* of the task looked at last */
	uint32_t root;          /* its descendants are ours too, with @tree; 0: nobody */
	uint64_t born_after_ns; /* a process that is older joins no tree; 0: any may */
	uint64_t own_inode;     /* of the collector's file: the command before its exec */
	struct coll_ext *ext;   /* of the caller; NULL: no extended feature */
	uint32_t ext_first;     /* index of its first event */
	struct map_u64 left_out; /* by --image: image (its address) -> samples */
};

/* @session_fd: borrowed; the other members that are options are set by the caller. */
int coll_collect_init(struct coll_collect *c, int session_fd,
		      const struct coll_sink_event *events,
		      const struct coll_kernel_options *kernel, char **wanted,
		      size_t nr_wanted, struct err *err);
void coll_collect_fini(struct coll_collect *c);

/* Lets helpers answer questions from now on, instead of this process.  0 or -ENOMEM. */
int coll_collect_ask_helpers(struct coll_collect *c);

/* "PATH, PATH (and 3 more)": in which programs the samples were that --image left out,
 * those with most of them first. */
void coll_collect_left_out(const struct coll_collect *c, struct strbuf *out);

/* Waits until all questions are answered, and files everything. */
void coll_collect_finish(struct coll_collect *c);

/* Bytes of what is being written: part of what bounds a session. */
size_t coll_collect_bytes(const struct coll_collect *c);
/* The sink that could not store something, with its reason; NULL: there is none. */
const struct coll_sink *coll_collect_broken(const struct coll_collect *c);

/*
 * Takes answers, writes who was sampled, and frees what long runs leave behind when there
 * is enough of it.  Called after each drain.
 */
void coll_collect_settle(struct coll_collect *c);

/*
 * Counts in another session from now on.  Figures begin with what still waits; processes
 * and images that are still in use stay known.
 */
void coll_collect_move(struct coll_collect *c, int session_fd);

/* Forgets all processes: their records were not read for a while. */
void coll_collect_forget(struct coll_collect *c);

/* A coll_consume; @ctx is the struct coll_collect.  0 or -ENOMEM. */
int coll_collect_take(void *ctx, const struct coll_rec *rec);

#endif
