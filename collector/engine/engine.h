/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_ENGINE_ENGINE_H
#define COLLECTOR_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/priority.h"
#include "base/vec.h"
#include "collector/engine/collect.h"
#include "collector/engine/options.h"
#include "collector/engine/plan.h"
#include "collector/source/source.h"
#include "collector/store/session.h"

/*
 * What all ways of collecting share: events, a source, a session, its figures, and what
 * counts records in it.  "record" runs one as long as its command, the daemon for weeks.
 */
struct coll_engine {
	struct coll_options *opt;             /* borrowed */
	const struct coll_sink_event *events; /* of @plan, or of a saved stream */
	struct coll_plan plan;
	struct coll_session session;
	struct coll_collect collect;
	struct coll_source *source; /* NULL: closed */
	bool running;               /* samples are being taken */
	bool kept;                  /* there is a keeper of sessions */
	VEC(char *) notes;          /* what `status` should say; heap */
	struct strbuf settings; /* file "settings" of each session; "": none is written */
	bool *throttled, *throttle_told; /* by event */
	struct spec_stats past;          /* of sessions that were rotated away */
	uint64_t told_ns, told_taken;
	uint64_t last_drain_ns; /* CLOCK_MONOTONIC */
	size_t asked;           /* questions that were open then, */
	int asking_ms; /* and how soon their answers are looked for; 0: none are due */
	/* Of the thread that takes samples, which sets it: while that waits for a CPU,
	 * rings overflow and processes end before they were looked at. */
	struct priority priority;
	bool untold; /* figures could not be written */
};

/* A struct coll_engine that coll_engine_fini() accepts. */
#define COLL_ENGINE_NONE                                                                 \
	{                                                                                \
		.session = {.lock_fd = -1, .samples_fd = -1, .fd = -1 }                  \
	}

void coll_engine_fini(struct coll_engine *e);

/* Completes the events of @opt and checks what can be checked without doing anything. */
int coll_engine_plan(struct coll_engine *e, struct coll_options *opt, struct err *err);

/* The same for a saved stream, whose @events are borrowed. */
int coll_engine_plan_saved(struct coll_engine *e, struct coll_options *opt,
			   const struct coll_sink_event *events, struct err *err);

/* Tells the user something, now and in `status`; "" is nothing. */
void coll_engine_note(struct coll_engine *e, const char *text);
/* What was told does not hold any more of sessions to come. */
void coll_engine_forget_notes(struct coll_engine *e);

/**
 * coll_engine_open_source - opens the driver, or perf events on whole CPUs or threads
 * @tids: the threads; none: everything
 * @on_exec: samples begin at the threads' next exec
 */
int coll_engine_open_source(struct coll_engine *e, const uint32_t *tids, size_t nr_tids,
			    bool on_exec, struct err *err);
/* Prepares the session, and what counts in it. */
int coll_engine_open_session(struct coll_engine *e, bool append, struct err *err);
/* Notes what cannot be seen with these rights. */
void coll_engine_note_limits(struct coll_engine *e);

/* Lets samples be taken.  0 or -errno. */
int coll_engine_start(struct coll_engine *e, struct err *err);
/* Takes the records that there are.  1: call again soon; 0; -errno: cannot go on. */
int coll_engine_round(struct coll_engine *e);
/* How long to wait for events after a round that returned @rc; ms. */
int coll_engine_pause_ms(const struct coll_engine *e, int rc);
/* Waits so long at most until everything taken so far is filed, but for what waits for a
 * file system or a process that does not answer, and goes on sampling.  0 or -errno. */
int coll_engine_await(struct coll_engine *e, unsigned seconds);
/* Ends sampling, and takes the remaining records.  0 or -errno. */
int coll_engine_stop(struct coll_engine *e);
/* Begins a checkpoint, as coll_sink_checkpoint(), and goes on with it. */
void coll_engine_checkpoint(struct coll_engine *e);
bool coll_engine_write_back(struct coll_engine *e, uint64_t until_ns);
/* Waits until the session's samples are on the disk, or counts them as lost. */
void coll_engine_settle(struct coll_engine *e);
/* Makes the files of arcs of a session that no stack comes to any more. */
void coll_engine_make_arcs(struct coll_engine *e);
/* Closes the source, after coll_engine_stop(). */
void coll_engine_close_source(struct coll_engine *e);

/* Writes the figures, for readers of the live session. */
void coll_engine_tell(struct coll_engine *e, bool closed);
/* The same when there is something new, once a second at most. */
void coll_engine_tell_sometimes(struct coll_engine *e, uint64_t now_ns);

/* Takes other options, while it does not run; those before may be freed after it.
 * 0, or -errno and everything as it was. */
int coll_engine_reconfigure(struct coll_engine *e, struct coll_options *opt,
			    struct err *err);
/* Writes settings and notes into the session.  0 or -errno. */
int coll_engine_describe(struct coll_engine *e, struct err *err);

/**
 * coll_engine_rotate - goes on in an empty session
 * @name: how the present one is called from now on; NULL: by its start
 * As coll_session_rotate(); @old receives the session that was closed.
 */
int coll_engine_rotate(struct coll_engine *e, const char *name,
		       struct coll_session_old *old, struct err *err);

#endif
