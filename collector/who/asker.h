/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_WHO_ASKER_H
#define COLLECTOR_WHO_ASKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/box/box.h"
#include "collector/who/answer.h"

/*
 * Questions whose answer may never come: a profiled process can map files of a network or
 * user-space file system that does not answer, and /proc waits for a process that waits
 * for such a one.  Helper processes (collector/who/answer.h) do the work; the collector
 * goes on meanwhile, and takes answers as they come.
 *
 * Patience is not a matter of the clock.  On a busy machine a helper may not run for
 * seconds; it is given up only when it was seen blocked for so long (base/box/state.h).
 * Each question has a lane: what it may wait for, a file system or a process.  While one
 * question of a lane is blocked the others of that lane wait; those of other lanes go to
 * another helper.
 */
enum {
	/* blocked for so long, a helper is left alone with its question, */
	COLL_ASKER_SUSPECT_MS = 100,
	/* and given up; the second: if that lane did not answer the last time either */
	COLL_ASKER_PATIENCE_MS = 5000,
	COLL_ASKER_AGAIN_MS = 1000,
	/* for so long nothing is asked of such a lane */
	COLL_ASKER_DEAD_S = 60,
	/* at the end of a run: however often something comes, */
	COLL_ASKER_LAST_S = 60,
	/* and if they go on working; for tables: in all such ends together */
	COLL_ASKER_WORK_S = 300,
	COLL_ASKER_TABLES_S = 30,
};

struct coll_asker;

/* Whom it asks. */
struct coll_asker_kind {
	const struct box_kind *box; /* its jobs are the helpers */
	/* A helper answers one question, and is over.  If it dies of that, no other is
	 * asked. */
	bool once;
	unsigned deaths; /* of helpers that were at a question, before it is given up */
	/* how long coll_asker_finish() waits; of those that answer once: all calls */
	unsigned finish_ms;
};

extern const struct coll_asker_kind coll_asks_questions; /* all but those for tables, */
extern const struct coll_asker_kind coll_asks_tables;    /* and those */

/**
 * coll_answered - takes the answer; called once for each question
 * @rc: 0; -ETIMEDOUT: given up; -EAGAIN: too many helpers wait in vain already, or none
 *	can be had; -ENOMEM; -ENOTRECOVERABLE: a helper that answers once died of it,
 *	or of its limits
 * @answer: of @len bytes, borrowed; may be changed
 */
typedef void (*coll_answered)(void *ctx, uint64_t arg, int rc, char *answer, size_t len);

/* A question, and who gets the answer. */
struct coll_question {
	enum coll_question_kind kind;
	uint64_t lane;    /* coll_lane_...() */
	const void *data; /* borrowed for the call */
	size_t len;
	coll_answered answered;
	void *ctx;
	uint64_t arg;
};

/* @program: what is executed for helpers; NULL: this program.  NULL if out of memory. */
struct coll_asker *coll_asker_new(const struct coll_asker_kind *kind,
				  const char *program);
/* Open questions are never answered.  NULL is fine. */
void coll_asker_free(struct coll_asker *a);

/**
 * coll_asker_ask - asks, and returns at once
 * @a: NULL: the answer is made here and now, before this returns, however long it takes
 * Returns 0, or -ENOMEM and nothing was asked.
 */
int coll_asker_ask(struct coll_asker *a, const struct coll_question *q);

/* In a callback: takes the file that came with the answer; the caller's, or -1. */
int coll_asker_file(struct coll_asker *a);

/* Waits up to @ms for answers, and takes those that are there.  NULL is fine. */
void coll_asker_poll(struct coll_asker *a, int ms);

/* Waits until every question is answered, or given up: in the end all that are
 * blocked. */
void coll_asker_finish(struct coll_asker *a);

/* Questions without an answer yet. */
size_t coll_asker_open(const struct coll_asker *a);
/* Those of them that were seen blocked, and are waited for alone. */
size_t coll_asker_blocked(const struct coll_asker *a);
/* Helpers that were given up and are still there: they cannot even be killed. */
/* Is any question being worked on? */
bool coll_asker_works(const struct coll_asker *a);
unsigned coll_asker_stuck(struct coll_asker *a);

/* Lanes. */
uint64_t coll_lane_process(uint32_t tgid);
uint64_t coll_lane_device(uint32_t dev_major, uint32_t dev_minor);

#endif
