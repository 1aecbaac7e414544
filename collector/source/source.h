/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_SOURCE_SOURCE_H
#define COLLECTOR_SOURCE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "collector/rec/ext.h"
#include "collector/rec/rec.h"

/* Where samples come from. */
struct coll_source;
struct coll_event;
struct coll_counter;

struct coll_source_ops {
	const char *name;
	/* Lets samples be taken. */
	int (*start)(struct coll_source *s, struct err *err);
	/* A descriptor for poll() that is readable when drain() should be called; asked
	 * for before each poll(). */
	int (*poll_fd)(const struct coll_source *s);
	/**
	 * Hands over the records that are old enough for their order to be certain.
	 * @all: the rest as well (after stop)
	 * Returns 1 if it should be called again soon, 0, or what @consume failed with.
	 */
	int (*drain)(struct coll_source *s, bool all, coll_consume consume, void *ctx);
	/* No more samples are taken.  What was taken can still be drained. */
	void (*stop)(struct coll_source *s);
	/* Records lost by the kernel that no COLL_REC_LOST told; after the last drain.
	 * @tasks: those that were no samples, where that is known; else 0. */
	uint64_t (*lost_untold)(struct coll_source *s, uint64_t *tasks);
	void (*free)(struct coll_source *s);
	/* Some CPU is not sampled any more though it is there: it went and came, or the
	 * machine slept.  Asked again after a second at least, while it runs; NULL:
	 * never. */
	bool (*stalled)(struct coll_source *s);
	/* Why drain() failed, or an empty message; NULL: its code is all there is. */
	const struct err *(*why)(const struct coll_source *s);
};

/* The first member of every source. */
struct coll_source {
	const struct coll_source_ops *ops;
	uint32_t copy_bytes; /* of each user stack at most, for unwinding; 0: none */
	/* By the last drain(): no process did anything but run, and poll_fd(), which may
	 * be another than before, is readable as soon as a program begins. */
	bool quiet;
};

/* What is to be sampled, and how; all is borrowed.  A source takes what concerns it. */
struct coll_source_want {
	struct coll_event *events; /* user_only may be set by the open */
	size_t nr_events;
	const struct coll_ext *ext; /* which registers are wanted */
	bool callchain;
	uint32_t max_stack; /* frames of a chain at most; 0: as many as it takes */
	bool user_stacks;   /* with @callchain: registers and copies of user stacks too */
	uint32_t copy_bytes; /* of each of these; 0: what buffers have room for */
	size_t pages; /* of a CPU's buffer, a power of two; 0: as the source has it */
	/* whom: NULL and 0: everybody; else these threads and what they start */
	const uint32_t *tids;
	size_t nr_tids;
	bool on_exec;     /* begin when the thread executes a program */
	const char *save; /* the stream is written there too; or NULL */
	const char *path; /* what it is opened by; NULL: where it usually is */
	/* a saved stream tells its events: as struct coll_stream's */
	int (*counter)(void *ctx, const struct coll_counter *c);
	void *counter_ctx;
};

/* A kind of source: a row of coll_sources. */
struct coll_source_kind {
	const char *name; /* as --source has it; or of a file */
	const char *note; /* what a session says of it; NULL: nothing */
	bool saved;       /* samples of another time, maybe machine, from a file */
	bool per_task;    /* takes single threads where whole CPUs are not allowed */
	bool limited;     /* counters are the kernel's to give: they are checked before */
	bool extended;    /* has the registers of extended features */
	bool can_save;    /* its stream can be saved */
	bool tells_who;   /* its samples say who ran: /proc need not tell it before */
	/* Frames that a chain has at most, the sampled one included, and in @why who says
	 * so and what can be done; NULL: it takes no chains of its own. */
	uint32_t (*max_stack)(const char **why);
	/**
	 * open - opens what samples come from, stopped
	 * @notes: what was changed to make it work (smaller rings), or which events take
	 * turns, or ""; at least 256 bytes
	 * Returns 0; -EACCES or -EPERM if the user may not (everybody needs more rights
	 * than single threads); -ENODEV if it is not there, or cannot count that; -EBUSY
	 * if it is in use; -EINVAL for an event that it does not take; another -errno.
	 */
	int (*open)(const struct coll_source_want *w, struct coll_source **out,
		    char notes[256], struct err *err);
};

#endif
