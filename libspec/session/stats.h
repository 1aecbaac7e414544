/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSPEC_SESSION_STATS_H
#define LIBSPEC_SESSION_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/*
 * samples/SESSION/stats/: decimal text files without newline, named as OProfile names
 * them where OProfile has the reason.  taken = stored + every LOSS + every IGNORED.
 */
enum spec_stat {
#define STAT(id, name, kind, doc) SPEC_STAT_##id,
#include "libspec/session/stat_list.h"
#undef STAT
	SPEC_NR_STATS
};

enum spec_stat_kind {
	SPEC_STAT_KIND_FIGURE, /* counts something else than samples not stored */
	SPEC_STAT_KIND_PART,   /* some of the samples stored */
	SPEC_STAT_KIND_LOSS,   /* samples taken and not stored, for this reason */
	/* samples taken and left out because that was asked for */
	SPEC_STAT_KIND_IGNORED,
};

struct spec_stat_info {
	const char *name, *doc;
	enum spec_stat_kind kind;
};
extern const struct spec_stat_info spec_stat_info[SPEC_NR_STATS];

struct spec_stats {
	uint64_t value[SPEC_NR_STATS];
};

/**
 * spec_stats_read - the figures of a session
 * @session_fd: directory samples/NAME
 * Missing files, and a missing stats/, are 0.  In a session of OProfile's, which does
 * not write stored_samples, that stays 0.
 * Returns 0, -EBADMSG naming a file that holds no number, or another -errno.
 */
int spec_stats_read(int session_fd, struct spec_stats *out, struct err *err);
/* The same; with @settled no figure is replaced meanwhile, and only those that are there
 * are looked for. */
int spec_stats_read_settled(int session_fd, bool settled, struct spec_stats *out,
			    struct err *err);

/**
 * spec_stats_write - replaces the figures
 * @told: what was written there last; those that are the same are left as they are.
 *	NULL: that is not known
 * Writes those that are not zero, each through a rename, and removes stale ones.
 * Returns 0 or -errno; after a failure some files may be new and others old.
 */
int spec_stats_write(int session_fd, const struct spec_stats *s,
		     const struct spec_stats *told, struct err *err);

/* Sees that all of stats/ is on the disk.  0 or -errno. */
int spec_stats_sync(int session_fd, struct err *err);

/* The sum of what was lost (kind LOSS), saturating. */
uint64_t spec_stats_lost(const struct spec_stats *s);
/* The sum of what was left out as asked (kind IGNORED), saturating. */
uint64_t spec_stats_ignored(const struct spec_stats *s);

/**
 * spec_stats_throttled - notes that the kernel throttled an event
 * Makes the empty file stats/throttled/EVENT; bytes other than [A-Za-z0-9_-] as %XX.
 */
int spec_stats_throttled(int session_fd, const char *event, struct err *err);

/**
 * spec_stats_each_throttled - calls back for every event under stats/throttled/
 * In sorted order; @event dies after the call.  Stops when @visit returns non-zero and
 * returns that; 0 if there are none.
 */
int spec_stats_each_throttled(int session_fd, int (*visit)(void *ctx, const char *event),
			      void *ctx, struct err *err);

/*
 * stats/live: one line "GENERATION DRAINED_NS STATE\n" (CLOCK_REALTIME ns), replaced by
 * rename once a second at most while a collector writes; STATE is "live" or "closed".
 */
struct spec_live {
	uint64_t generation;
	uint64_t drained_ns;
	bool closed;
};
/* 0, -ENOENT if there is none (a session of OProfile's), -EBADMSG for garbage. */
int spec_live_read(int session_fd, struct spec_live *out, struct err *err);
/* Replaces it; makes stats/ if missing.  0 or -errno. */
int spec_live_write(int session_fd, const struct spec_live *live, struct err *err);

/**
 * spec_stats_note - adds a line to stats/notes, for `status` to show
 * @line: without newline; control bytes in it are stored as %XX
 * One write with O_APPEND; the same line twice is kept once by the reader.
 */
int spec_stats_note(int session_fd, const char *line, struct err *err);

/**
 * spec_stats_each_note - calls back for every distinct line of stats/notes, in order
 * A line cut short (a kill) is passed over.  As spec_stats_each_throttled() otherwise.
 */
int spec_stats_each_note(int session_fd, int (*visit)(void *ctx, const char *line),
			 void *ctx, struct err *err);

#endif
